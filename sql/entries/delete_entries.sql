create or replace function delete_entries(
    p_entry_ids uuid[] default null,
    p_thread_ids text[] default null,
    p_source text default null,
    p_older_than_days integer default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    v_own uuid[];
    v_foreign text[];
    v_count bigint;
begin
    perform ensure_may_write();
    select
        array_agg(entry_id) filter (where is_owner),
        array_agg(entry_hex(entry_id)) filter (where not is_owner)
    into v_own, v_foreign
    from find_deletable(p_entry_ids, p_thread_ids, p_source, p_older_than_days);

    if v_foreign is not null then
        perform raise_error(
            'PC013', 'Only the owner may delete an entry', jsonb_build_object('entry_ids', v_foreign)
        );
    end if;

    perform lock_entries(v_own);
    delete from entry where id = any(v_own);
    get diagnostics v_count = row_count;
    return v_count;
end;
$$;

comment on function delete_entries is
'Deletes the current principal''s own entries that meet every criterion that is not null; how many. Named ids of readable entries of other owners refuse the whole call (PC013); without ids they are passed over. No criterion, no deletion.';
