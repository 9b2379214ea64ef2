create or replace function lock_entries(p_entry_ids uuid[])
returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_tokens constant text[] := current_readers();
begin
    perform
    from entry as e
    where e.id = any(p_entry_ids) and (e.readers && v_tokens) is true
    order by e.id
    for no key update;
end;
$$;

comment on function lock_entries is
'Locks those of the entries that the current principal may read until the transaction ends, in id order, so that two callers who name the same entries wait for each other instead of deadlocking.';
