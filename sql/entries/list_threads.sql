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
begin
    return query execute format(
        $query$
        with figures as (
            select
                entry.thread_id,
                count(*) as entries,
                count(*) filter (where entry.source = 'user') as from_users,
                count(*) filter (where entry.content_type = 'multimodal') as multimodals,
                min(entry.created_at) as first_entry,
                max(entry.created_at) as last_entry
            from entry
            where %1$s
            group by entry.thread_id
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
            select entry.id
            from entry
            where entry.thread_id = figures.thread_id and entry.created_at = figures.last_entry and %1$s
            order by entry.id desc
            limit 1
        ) as latest
        order by figures.last_entry desc, latest.id desc
        limit $1 offset $2
        $query$,
        readable_condition()
    )
    using p_limit, case when p_limit is null then 0 else p_offset end;
end;
$$;

comment on function list_threads is
'The threads with readable entries, latest activity first, in figures over those entries alone.';
