create or replace function may_change_entry(p_entry_id uuid)
returns boolean
language sql
stable
security definer
set search_path from current
return exists (
    select from entry
    where id = p_entry_id and writers && (select current_readers())
);

comment on function may_change_entry is
'Whether the current principal may change the entry: it is the owner or holds a write grant.';
