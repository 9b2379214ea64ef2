create or replace function find_deletable(
    p_entry_ids uuid[], p_thread_ids text[], p_source text, p_older_than_days integer
)
returns table (entry_id uuid, is_owner boolean)
language plpgsql
stable
security definer
set search_path from current
as $$
declare
    v_before constant timestamptz
    := case
        -- older than the calendar: nothing is
        when p_older_than_days > 700000 then '-infinity'
        -- not days, which are of 23 or 25 hours where the session's time zone changes its clocks
        else now() - make_interval(hours => 24 * p_older_than_days)
    end;
begin
    if num_nonnulls(p_entry_ids, p_thread_ids, p_source, p_older_than_days) = 0 then
        return;
    end if;
    return query execute
        'select entry.id, entry.owner = $5 from entry where ' || readable_condition()
        || case when p_entry_ids is not null then ' and entry.id = any($1)' else ' and entry.owner = $5' end
        || case when p_thread_ids is not null then ' and entry.thread_id = any($2)' else '' end
        || case when p_source is not null then ' and entry.source = $3' else '' end
        || case when p_older_than_days is not null then ' and entry.created_at < $4' else '' end
        || ' order by array_position($1, entry.id), entry.id'
    using p_entry_ids, p_thread_ids, p_source, v_before, current_principal();
end;
$$;

comment on function find_deletable is
'The entries that meet every criterion that is not null: among named ids the readable ones, otherwise the caller''s own.';
