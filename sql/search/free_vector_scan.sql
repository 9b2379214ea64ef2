create or replace function free_vector_scan()
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    perform set_config('enable_sort', 'on', true), set_config('enable_seqscan', 'on', true);
end;
$$;

comment on function free_vector_scan is 'Lets the planner decide again after bind_vector_scan().';
