create or replace function list_grants(p_entry_id uuid)
returns table (
    principal_type text,
    principal_id text,
    permission text,
    granted_by text,
    created_at timestamptz
)
language plpgsql
stable
set search_path from current
as $$
declare
    v_is_owner boolean;
begin
    select rights.is_owner into v_is_owner from get_entry_rights(array[p_entry_id]) as rights;
    perform ensure_owner(p_entry_id, v_is_owner, 'list_grants');

    return query
    select g.principal_type, g.principal_id, g.permission, g.granted_by, g.created_at
    from entry_grant as g
    where g.entry_id = p_entry_id
    order by g.principal_type collate "C", g.principal_id collate "C", g.permission collate "C";
end;
$$;

comment on function list_grants is
'Every grant of an entry the current principal owns; PC010 when it cannot be read, PC014 when it is not owned.';
