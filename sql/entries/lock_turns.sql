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

    -- A batch will also want the entries that it repeats. Locked now, and so in the order in which updates lock, they
    -- cannot be waited for in a circle. For a single entry store_entry() does it.
    if jsonb_array_length(p_entries) > 1 then
        perform lock_entries(array(
            select latest.id
            from (select distinct value ->> 'thread_id' as id from jsonb_array_elements(p_entries)) as thread
            cross join lateral (
                select e.id, e.text_content
                from entry as e
                where e.owner = current_principal() and e.thread_id = thread.id
                order by e.created_at desc, e.id desc
                limit 1
            ) as latest
            where latest.text_content in (select value ->> 'text' from jsonb_array_elements(p_entries))
        ));
    end if;
end;
$$;

comment on function lock_turns is
'Makes stores of one principal in the same thread and source wait for each other until the transaction ends, so that two identical stores at the same moment make one entry. The salt keeps other logins from taking the same locks. Locks are taken in one order for all, those on the entries that a batch repeats included.';
