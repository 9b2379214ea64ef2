create or replace function lock_turns(p_entries jsonb)
returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_key bigint;
begin
    for v_key in
        select distinct
            hashtextextended(
                concat_ws(
                    e'\x1f', setting_value('lock_salt'), current_principal(),
                    entry.value ->> 'thread_id', entry.value ->> 'source'
                ),
                0
            ) as key
        from jsonb_array_elements(p_entries) as entry
        where coalesce((entry.value ->> 'deduplicate')::boolean, true)
        order by key
    loop
        perform pg_advisory_xact_lock(v_key);
    end loop;
end;
$$;

comment on function lock_turns is
'Makes stores of one principal in the same thread and source wait for each other until the transaction ends, so that two identical stores at the same moment make one entry. The salt keeps other logins from taking the same locks. Locks are taken in one order for all.';
