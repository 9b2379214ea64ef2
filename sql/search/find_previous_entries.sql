create or replace function find_previous_entries(p_entry_ids uuid[])
returns table (entry_id uuid, previous_id uuid)
language plpgsql
stable
rows 100
security definer
set search_path from current
as $$
begin
    return query
    select named.id, previous.id
    from (select distinct unnest(p_entry_ids) as id) as named
    cross join lateral (
        select e.id, e.thread_id, e.created_at from readable_entries() as e where e.id = named.id offset 0
    ) as entry
    cross join lateral (
        select e.id
        from readable_entries() as e
        where e.thread_id = entry.thread_id and (e.created_at, e.id) < (entry.created_at, entry.id)
        order by e.created_at desc, e.id desc
        limit 1
    ) as previous;
end;
$$;

comment on function find_previous_entries is
'For readable entries the readable entry before each in its thread, by creation and then id; no row where there is none.';
