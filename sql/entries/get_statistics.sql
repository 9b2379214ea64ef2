create or replace function get_statistics()
returns table (
    total_entries bigint,
    by_source jsonb,
    by_content_type jsonb,
    total_threads bigint,
    total_images bigint,
    unique_tags bigint,
    database_bytes bigint
)
language plpgsql
stable
security definer
set search_path from current
as $$
begin
    return query execute
    $query$
    with readable as materialized (
        select entry.id, entry.thread_id, entry.source, entry.content_type, entry.tags
        from entry
        where $query$ || readable_condition() || $query$
    ),

    counts as (
        select
            count(*) as entries,
            count(*) filter (where source = 'user') as from_users,
            count(*) filter (where source = 'agent') as from_agents,
            count(*) filter (where content_type = 'text') as texts,
            count(*) filter (where content_type = 'multimodal') as multimodals,
            count(distinct thread_id) as threads
        from readable
    ),

    images as (
        select count(*) as images
        from readable
        inner join entry_image on entry_image.entry_id = readable.id
        where readable.content_type = 'multimodal'
    ),

    tags as (
        select count(distinct tag) as tags from readable cross join unnest(readable.tags) as tag
    )

    select
        counts.entries,
        jsonb_build_object('user', counts.from_users, 'agent', counts.from_agents),
        jsonb_build_object('text', counts.texts, 'multimodal', counts.multimodals),
        counts.threads,
        images.images,
        tags.tags,
        pg_database_size(current_database())
    from counts
    cross join images
    cross join tags
    $query$;
end;
$$;

comment on function get_statistics is
'Counts over the entries that the current principal may read, and the size of the whole database.';
