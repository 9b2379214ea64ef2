create or replace function explain_words(p_query jsonb, p_filter jsonb default '{}', p_limit integer default 100)
returns text
language plpgsql
volatile
security definer
set search_path from current
set enable_seqscan to off
set enable_hashjoin to off
set enable_mergejoin to off
set random_page_cost to 1.1
set max_parallel_workers_per_gather to 0
set jit to off
as $$
declare
    v_query constant jsonb := compile_query(p_query);
    v_line text;
    v_plan text[];
begin
    if coalesce(cardinality(query_units(v_query)), 0) = 0 then
        return '';
    end if;
    for v_line in
        execute 'explain ' || compile_word_ranking(v_query, compile_word_candidates(v_query, p_filter, 1000))
        using p_limit
    loop
        v_plan := v_plan || v_line;
    end loop;
    return array_to_string(v_plan, e'\n');
end;
$$;

comment on function explain_words is 'The plan of the query behind rank_words(), as EXPLAIN prints it.';
