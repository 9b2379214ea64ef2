create or replace function own_grant()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    select entry.owner into new.owner from entry where entry.id = new.entry_id;
    return new;
end;
$$;

comment on function own_grant is 'Copies the owner of the entry into a new grant, where the policies look for it.';

create or replace trigger own_grant
before insert on entry_grant
for each row execute function own_grant();
