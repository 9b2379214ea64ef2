create or replace function lock_owned_entry(p_entry_id uuid, p_action text)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_is_owner boolean;
begin
    perform ensure_may_write();
    perform lock_entries(array[p_entry_id]);
    select rights.is_owner into v_is_owner from get_entry_rights(array[p_entry_id]) as rights;
    perform ensure_owner(p_entry_id, v_is_owner, p_action);
end;
$$;

comment on function lock_owned_entry is
'Locks an entry whose grants are about to change; PC010 when it cannot be read, PC014 when it is not owned.';
