create or replace function explain_search(p_filter jsonb, p_limit integer, p_offset integer)
returns text
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_line text;
    v_plan text[];
begin
    for v_line in execute 'explain ' || compile_search(p_filter, p_limit, p_offset) loop
        v_plan := v_plan || v_line;
    end loop;
    return array_to_string(v_plan, e'\n');
end;
$$;

comment on function explain_search is 'The plan of the query behind search_entries(), as EXPLAIN prints it.';
