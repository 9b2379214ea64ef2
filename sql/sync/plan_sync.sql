create or replace function plan_sync(
    p_thread_id text,
    p_manifest jsonb,
    p_source_id_after text default null,
    p_source_id_through text default null
)
returns table (
    creates integer[],
    updates jsonb,
    deletes jsonb,
    deletes_total bigint,
    unchanged_count bigint,
    kept_count bigint,
    foreign_count bigint
)
language plpgsql
stable
rows 1
security definer
set search_path from current
-- how many entries lie in the range, and how many of others' a caller may read, decides about the plan
set plan_cache_mode to force_custom_plan
as $$
declare
    v_principal constant text := current_principal();
    v_corpus constant bytea := corpus_digest(p_thread_id);
    v_listed constant integer := 100;
begin
    return query
    with item as (
        select
            place::integer - 1 as index,
            named.source_id collate "C" as source_id,
            named.text_digest,
            named.meta_digest,
            named.text_digest is null as is_kept
        from rows from (
            jsonb_to_recordset(p_manifest) as (source_id text, text_digest text, meta_digest text)
        ) with ordinality as named (source_id, text_digest, meta_digest, place)
    ),

    -- entries of the sources that the manifest names; of several for one source, the first is the one to stay
    named_entry as (
        select
            item.index,
            item.is_kept,
            e.id,
            e.source_id,
            compared.text_differs,
            compared.meta_differs,
            row_number() over (
                partition by item.index
                order by compared.text_differs, compared.meta_differs, e.created_at desc, e.id desc
            ) as rank
        from item
        inner join entry as e
            on e.corpus = v_corpus and e.owner = v_principal and e.source_id = item.source_id
        cross join lateral (
            select
                e.content_hash <> item.text_digest as text_differs,
                lower(e.metadata -> 'ingest' ->> 'meta_digest') <> item.meta_digest as meta_differs
        ) as compared
    ),

    pair as (
        select item.index, named_entry.id, named_entry.text_differs, named_entry.meta_differs
        from item
        left join named_entry on named_entry.index = item.index and named_entry.rank = 1
        where not item.is_kept
    ),

    absent as (
        select e.id, e.source_id
        from entry as e
        where
            e.corpus = v_corpus
            and e.owner = v_principal
            and e.source_id is not null
            and (p_source_id_after is null or e.source_id > p_source_id_after)
            and (p_source_id_through is null or e.source_id <= p_source_id_through)
            and not exists (select from item where item.source_id = e.source_id)
        order by e.source_id, e.id
        limit v_listed
    ),

    surplus as (
        select absent.id, absent.source_id, 'absent' as reason
        from absent
        union all
        select named_entry.id, named_entry.source_id, 'duplicate' as reason
        from named_entry
        where named_entry.rank > 1 and not named_entry.is_kept
    ),

    listed as (
        select surplus.id, surplus.source_id, surplus.reason
        from surplus
        order by surplus.source_id, surplus.id
        limit v_listed
    ),

    own as (
        select count(*) as entries
        from entry as e
        where
            e.corpus = v_corpus
            and e.owner = v_principal
            and e.source_id is not null
            and (p_source_id_after is null or e.source_id > p_source_id_after)
            and (p_source_id_through is null or e.source_id <= p_source_id_through)
    ),

    staying as (
        select count(*) as entries from named_entry where named_entry.rank = 1 or named_entry.is_kept
    ),

    others as (
        select count(*) as entries
        from readable_entries() as e
        where
            e.corpus = v_corpus
            -- two ranges of the index, beside the caller's own
            and (e.owner < v_principal or e.owner > v_principal)
            and e.source_id is not null
            and (p_source_id_after is null or e.source_id > p_source_id_after)
            and (p_source_id_through is null or e.source_id <= p_source_id_through)
    )

    select
        array(select pair.index from pair where pair.id is null order by pair.index),
        (
            select coalesce(jsonb_agg(
                jsonb_build_object(
                    'index', pair.index,
                    'entry_id', entry_hex(pair.id),
                    'change', case
                        when not pair.text_differs then 'metadata' when pair.meta_differs then 'both' else 'text'
                    end
                )
                order by pair.index
            ), '[]')
            from pair
            where pair.text_differs or pair.meta_differs
        ),
        (
            select coalesce(jsonb_agg(
                jsonb_build_object(
                    'entry_id', entry_hex(listed.id), 'source_id', listed.source_id, 'reason', listed.reason
                )
                order by listed.source_id, listed.id
            ), '[]')
            from listed
        ),
        own.entries - staying.entries,
        (select count(*) from pair where not pair.text_differs and not pair.meta_differs),
        (select count(*) from item where item.is_kept),
        others.entries
    from own
    cross join staying
    cross join others;
end;
$$;

comment on function plan_sync is
'What a manifest [{source_id, text_digest, meta_digest}], its digests in lower case, changes in the current principal''s managed entries of a thread: manifest indices to create; {index, entry_id, change} to update; at most 100 {entry_id, source_id, reason} to delete, and how many in all. An item without digests keeps its source as it is. Only sources after the one bound and up to the other are looked at, and every item must lie between them.';
