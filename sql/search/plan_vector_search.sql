create or replace function plan_vector_search(
    p_filter jsonb, p_limit integer, p_compare_all boolean default false
)
returns table (candidates uuid[], ef_search integer)
language plpgsql
volatile
set search_path from current
as $$
declare
    -- Comparing n candidates costs about 2.5 microseconds each; finding p_limit of them in the index among N chunks
    -- means to look at p_limit * N / n, at about 40 microseconds each: even at about 4 * sqrt(p_limit * N). N comes
    -- from the size of the table, whose rows have some 900 bytes, since nothing need have counted them.
    v_most constant integer := case
        when p_compare_all then 2147483646
        else least(greatest(4 * sqrt(p_limit * pg_relation_size('chunk_embedding') / 900.0), 1000), 100000)
    end;
    v_query constant text := format(
        'select entry.id from entry where %s and %s', readable_condition(), compile_filter(p_filter)
    );
    v_plan json;
    v_estimate float8;
    v_all float8;
begin
    execute 'explain (format json) ' || v_query into v_plan;
    v_estimate := v_plan #>> '{0,Plan,Plan Rows}';
    -- far more by the planner's statistics: not worth counting
    if p_compare_all or v_estimate <= 4.0 * v_most then
        execute format('select array(%s limit %s)', v_query, v_most + 1) into candidates;
        if cardinality(candidates) > v_most then
            candidates := null;
        end if;
    end if;
    if candidates is null then
        -- twice as many as wanted among those that will do are looked at, so that the nearest are among them
        select reltuples into v_all from pg_catalog.pg_class where oid = 'entry'::regclass;
        ef_search := least(greatest(2 * p_limit * v_all / greatest(v_estimate, v_most), 2 * p_limit, 200), 1000);
    end if;
    return next;
end;
$$;

comment on function plan_vector_search is
'How find_vector_matches() goes about it: the readable entries that pass the filter where they are few, or p_compare_all, to be compared one by one; else null and how many vectors the index looks at in one go. For the functions of this schema that run as the owner of the tables.';
