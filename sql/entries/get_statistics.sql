create or replace function get_statistics()
returns table (
    total_entries bigint,
    by_source jsonb,
    by_content_type jsonb,
    total_threads bigint,
    total_images bigint,
    unique_tags bigint,
    database_bytes bigint,
    indexed_entries bigint,
    embedded_entries bigint,
    embedding_bytes bigint
)
language plpgsql
stable
security definer
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_granted constant text[] := granted_tokens(v_principal, current_groups());
begin
    return query execute
    $query$
    with threads as (
        select
            sum(figure.entries)::bigint as entries,
            sum(figure.from_users)::bigint as from_users,
            sum(figure.multimodals)::bigint as multimodals
        from readable_figures($1, $2) as figure
        group by figure.thread_id
        having sum(figure.entries) > 0
    ),

    counts as (
        select
            count(*) as threads,
            coalesce(sum(entries), 0)::bigint as entries,
            coalesce(sum(from_users), 0)::bigint as from_users,
            coalesce(sum(multimodals), 0)::bigint as multimodals
        from threads
    ),

    chunked as (
        select count(*) as indexed, count(*) filter (where each.pending = 0) as embedded
        from (
            select chunk.entry_id, count(*) filter (where chunk_embedding.entry_id is null) as pending
            from entry
            inner join chunk on chunk.entry_id = entry.id
            left join chunk_embedding
                on chunk_embedding.entry_id = chunk.entry_id and chunk_embedding.chunk_index = chunk.chunk_index
            where $query$ || readable_condition() || $query$
            group by chunk.entry_id
        ) as each
    ),

    images as (
        select count(*) as images
        from entry
        inner join entry_image on entry.id = entry_image.entry_id
        where entry.content_type = 'multimodal' and $query$ || readable_condition() || $query$
    ),

    tags as (
        select count(*) as tags
        from (select distinct unnest(entry.tags) from entry where $query$ || readable_condition() || $query$) as each
    )

    select
        counts.entries,
        jsonb_build_object('user', counts.from_users, 'agent', counts.entries - counts.from_users),
        jsonb_build_object('text', counts.entries - counts.multimodals, 'multimodal', counts.multimodals),
        counts.threads,
        images.images,
        tags.tags,
        pg_database_size(current_database()),
        chunked.indexed,
        chunked.embedded,
        pg_total_relation_size('chunk_embedding')
    from counts
    cross join images
    cross join tags
    cross join chunked
    $query$
    using v_principal, v_granted;
end;
$$;

comment on function get_statistics is
'Counts over the entries that the current principal may read, and the sizes of the whole database and of all embeddings.';
