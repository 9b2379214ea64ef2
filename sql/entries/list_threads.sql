create or replace function list_threads(p_limit integer default null, p_offset integer default 0)
returns table (
    thread_id text,
    entry_count bigint,
    source_types integer,
    multimodal_count bigint,
    first_entry timestamptz,
    last_entry timestamptz,
    last_id uuid
)
language plpgsql
stable
rows 100
security definer
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_granted constant text[] := granted_tokens(v_principal, current_groups());
begin
    return query
    -- what is readable is the caller's own, or public, or was granted; each kind has its index, in the order of the
    -- threads, and the first two are counted without reading a row
    with kinds as (
        select
            e.thread_id,
            count(*) as entries,
            count(*) filter (where e.source = 'user') as from_users,
            count(*) filter (where e.content_type = 'multimodal') as multimodals,
            min(e.created_at) as first_entry,
            max(e.created_at) as last_entry
        from entry as e
        where e.owner = v_principal
        group by e.thread_id
        union all
        select
            e.thread_id,
            count(*) as entries,
            count(*) filter (where e.source = 'user') as from_users,
            count(*) filter (where e.content_type = 'multimodal') as multimodals,
            min(e.created_at) as first_entry,
            max(e.created_at) as last_entry
        from entry as e
        where e.visibility = 'public' and e.owner <> v_principal
        group by e.thread_id
        union all
        select
            e.thread_id,
            count(*) as entries,
            count(*) filter (where e.source = 'user') as from_users,
            count(*) filter (where e.content_type = 'multimodal') as multimodals,
            min(e.created_at) as first_entry,
            max(e.created_at) as last_entry
        from entry as e
        where e.visibility = 'private' and e.owner <> v_principal and e.readers && v_granted
        group by e.thread_id
    ),

    figures as (
        select
            kinds.thread_id,
            sum(kinds.entries)::bigint as entries,
            sum(kinds.from_users)::bigint as from_users,
            sum(kinds.multimodals)::bigint as multimodals,
            min(kinds.first_entry) as first_entry,
            max(kinds.last_entry) as last_entry
        from kinds
        group by kinds.thread_id
    )

    select
        figures.thread_id,
        figures.entries,
        (figures.from_users > 0)::integer + (figures.from_users < figures.entries)::integer,
        figures.multimodals,
        figures.first_entry,
        figures.last_entry,
        latest.id
    from figures
    cross join lateral (
        select e.id
        from readable_entries() as e
        where e.thread_id = figures.thread_id and e.created_at = figures.last_entry
        order by e.id desc
        limit 1
    ) as latest
    order by figures.last_entry desc, latest.id desc
    limit p_limit
    offset case when p_limit is null then 0 else p_offset end;
end;
$$;

comment on function list_threads is
'The threads with readable entries, latest activity first, in figures over those entries alone.';
