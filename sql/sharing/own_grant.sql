create or replace function own_grant()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_detail constant jsonb := jsonb_build_object('entry_id', entry_hex(new.entry_id));
begin
    select entry.owner into new.owner from entry where entry.id = new.entry_id;
    -- the operator, who is no principal, may put back what a dump holds; anybody but the owner is refused by the
    -- policies, after this, and must not learn here whose the entry is
    if new.principal_type = 'user' and new.owner = current_principal() then
        if new.principal_id = new.owner then
            perform raise_error('PC015', 'An entry cannot be shared with its owner', v_detail);
        elsif new.principal_id = setting_value('anonymous_principal') then
            perform raise_error(
                'PC016', 'An entry cannot be shared with the anonymous principal', v_detail,
                'Make it public instead.'
            );
        end if;
    end if;
    return new;
end;
$$;

comment on function own_grant is
'Copies the owner of the entry into a new grant, where the policies look for it, and refuses grants to the owner and to the anonymous principal.';

create or replace trigger own_grant
before insert on entry_grant
for each row execute function own_grant();
