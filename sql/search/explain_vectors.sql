create or replace function explain_vectors(p_vector halfvec, p_filter jsonb, p_limit integer)
returns text
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_way record;
    v_line text;
    v_plan text[];
begin
    select * into v_way from plan_vector_search(p_filter, p_limit);
    if v_way.candidates is null then
        perform bind_vector_scan(v_way.ef_search);
    end if;
    for v_line in
        execute 'explain ' || case
            when v_way.candidates is null then compile_vector_scan(p_filter, p_limit)
            else compile_vector_comparison(p_limit)
        end
        using p_vector, v_way.candidates
    loop
        -- the vector itself would fill pages
        v_plan := v_plan || regexp_replace(v_line, '\[[-0-9.,e]+\]', '[…]', 'g');
    end loop;
    perform free_vector_scan();
    return array_to_string(v_plan, e'\n');
end;
$$;

comment on function explain_vectors is
'The plan of the query behind rank_vectors(), as EXPLAIN prints it; the way is chosen as find_vector_matches() does.';
