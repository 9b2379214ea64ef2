create or replace function refuse_grant_change()
returns trigger
language plpgsql
volatile
set search_path from current
as $$
begin
    perform raise_error('PC018', 'Grants are added and removed, one by one, and never changed');
    return null;
end;
$$;

comment on function refuse_grant_change is
'Keeps everybody from changing or truncating grants, which entry.readers and entry.writers could not follow.';

create or replace trigger refuse_grant_change
before update or truncate on entry_grant
for each statement execute function refuse_grant_change();
