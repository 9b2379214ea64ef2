create or replace function list_ingest_state(
    p_thread_id text,
    p_limit integer default 100,
    p_after_source_id text default null,
    p_after_entry_id uuid default null
)
returns table (entry_id uuid, source_id text, text_digest text, meta_digest text, synced_at text)
language plpgsql
stable
rows 100
set search_path from current
as $$
begin
    return query
    select
        e.id,
        e.metadata -> 'ingest' ->> 'source_id',
        e.content_hash,
        e.metadata -> 'ingest' ->> 'meta_digest',
        e.metadata -> 'ingest' ->> 'synced_at'
    from find_managed(p_thread_id, p_limit, p_after_source_id, p_after_entry_id)
    with ordinality as found (entry_id, place)
    inner join entry as e on e.id = found.entry_id
    order by found.place;
end;
$$;

comment on function list_ingest_state is
'The current principal''s managed entries of a thread after a position, by source id and then id, with the digests and the time in their blocks.';
