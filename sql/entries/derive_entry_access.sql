create or replace function derive_entry_access()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    -- derive_entry() computes them, once it has the row: with what others have meanwhile committed
    update entry
    set readers = entry.readers
    where entry.id in (select changed.entry_id from changed);
    return null;
end;
$$;

comment on function derive_entry_access is 'Carries new and removed grants over to entry.readers and entry.writers.';

create or replace trigger derive_entry_access_after_insert
after insert on entry_grant
referencing new table as changed
for each statement execute function derive_entry_access();

create or replace trigger derive_entry_access_after_delete
after delete on entry_grant
referencing old table as changed
for each statement execute function derive_entry_access();
