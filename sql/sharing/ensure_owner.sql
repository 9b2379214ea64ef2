create or replace function ensure_owner(p_entry_id uuid, p_is_owner boolean, p_action text)
returns void
language plpgsql
stable
set search_path from current
as $$
declare
    v_detail constant jsonb := jsonb_build_object('entry_id', entry_hex(p_entry_id), 'action', p_action);
begin
    if p_is_owner is null then
        perform raise_error('PC010', 'No such entry, or none that you may read', v_detail);
    elsif not p_is_owner then
        perform raise_error('PC014', 'Only its owner may see or change the grants of an entry', v_detail);
    end if;
end;
$$;

comment on function ensure_owner is
'Raises PC010 for an entry that cannot be read (p_is_owner null) and PC014 for one of another owner.';
