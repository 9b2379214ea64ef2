create or replace function find_candidates(
    p_filter jsonb, p_needles text[], p_limit integer, p_created_before timestamptz, p_id_before uuid
)
returns table (entry_id uuid, is_owner boolean)
language plpgsql
stable
rows 100
security definer
set search_path from current
as $$
begin
    return query execute compile_candidates(p_filter, p_needles, p_limit, p_created_before, p_id_before);
end;
$$;

comment on function find_candidates is
'The first wall of list_candidates(): ids of readable entries, newest first, found with every index.';
