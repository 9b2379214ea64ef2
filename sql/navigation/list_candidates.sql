create or replace function list_candidates(
    p_filter jsonb default '{}',
    p_needles text[] default '{}',
    p_limit integer default 100,
    p_created_before timestamptz default null,
    p_id_before uuid default null
)
returns table (entry_id uuid, octets integer, visibility text, is_owner boolean, created_at timestamptz)
language plpgsql
stable
rows 100
set search_path from current
as $$
begin
    return query
    select e.id, octet_length(e.text_content), e.visibility, found.is_owner, e.created_at
    from find_candidates(p_filter, p_needles, p_limit, p_created_before, p_id_before)
    with ordinality as found (entry_id, is_owner, place)
    inner join entry as e on e.id = found.entry_id
    order by found.place;
end;
$$;

comment on function list_candidates is
'The readable entries that pass a filter (see compile_filter) and whose folded text holds one of the needles, newest first, each with the size of its text; those before (p_created_before, p_id_before) where that is given.';
