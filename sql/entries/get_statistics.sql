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
            count(*) filter (where content_type = 'multimodal') as multimodals
        from readable
    ),

    threads as (
        select count(*) as threads from (select distinct thread_id from readable) as each
    ),

    tags as (
        select count(*) as tags from (select distinct unnest(tags) from readable) as each
    ),

    images as (
        select count(*) as images
        from readable
        inner join entry_image on entry_image.entry_id = readable.id
        where readable.content_type = 'multimodal'
    )

    select
        counts.entries,
        jsonb_build_object('user', counts.from_users, 'agent', counts.entries - counts.from_users),
        jsonb_build_object('text', counts.entries - counts.multimodals, 'multimodal', counts.multimodals),
        threads.threads,
        images.images,
        tags.tags,
        pg_database_size(current_database())
    from counts
    cross join threads
    cross join images
    cross join tags
    $query$;
end;
$$;

comment on function get_statistics is
'Counts over the entries that the current principal may read, and the size of the whole database.';
