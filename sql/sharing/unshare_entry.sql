create or replace function unshare_entry(
    p_entry_id uuid,
    p_principal_type text,
    p_principal_id text,
    p_permission text
)
returns table (removed boolean, remaining_permissions text[])
language plpgsql
volatile
set search_path from current
as $$
begin
    perform lock_owned_entry(p_entry_id, 'unshare');

    delete from entry_grant
    where
        entry_grant.entry_id = p_entry_id
        and entry_grant.principal_type = p_principal_type
        and entry_grant.principal_id = p_principal_id
        and entry_grant.permission = p_permission;
    removed := found;

    remaining_permissions := array(
        select entry_grant.permission
        from entry_grant
        where
            entry_grant.entry_id = p_entry_id
            and entry_grant.principal_type = p_principal_type
            and entry_grant.principal_id = p_principal_id
        order by entry_grant.permission collate "C"
    );
    return next;
end;
$$;

comment on function unshare_entry is
'Removes exactly one grant from an entry the current principal owns; tells whether it was there and what the grantee still holds.';
