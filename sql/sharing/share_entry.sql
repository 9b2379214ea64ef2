create or replace function share_entry(
    p_entry_id uuid,
    p_principal_type text,
    p_principal_id text,
    p_permission text
)
returns boolean
language plpgsql
volatile
set search_path from current
as $$
begin
    perform lock_owned_entry(p_entry_id, 'share');
    insert into entry_grant (entry_id, principal_type, principal_id, permission, granted_by, created_at)
    values (p_entry_id, p_principal_type, p_principal_id, p_permission, current_principal(), clock_timestamp())
    on conflict do nothing;
    return found;
end;
$$;

comment on function share_entry is
'Grants a user or a group read or write on an entry the current principal owns; false when it holds that grant already.';
