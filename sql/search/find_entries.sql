create or replace function find_entries(p_filter jsonb, p_limit integer, p_offset integer)
returns table (entry_id uuid, is_owner boolean)
language plpgsql
stable
rows 30
security definer
set search_path from current
as $$
begin
    return query execute compile_search(p_filter, p_limit, p_offset);
end;
$$;

comment on function find_entries is
'The first wall of search_entries(): ids of one page of readable entries, newest first, found with every index.';
