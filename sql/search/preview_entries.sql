create or replace function preview_entries(p_entry_ids uuid[], p_text_length integer)
returns table (
    id uuid,
    thread_id text,
    source text,
    content_type text,
    text_content text,
    is_text_content_truncated boolean,
    metadata jsonb,
    tags text[],
    summary text,
    visibility text,
    is_owner boolean,
    created_at timestamptz,
    updated_at timestamptz
)
language plpgsql
stable
rows 30
set search_path from current
as $$
begin
    return query
    select
        e.id,
        e.thread_id,
        e.source,
        e.content_type,
        left(head.text, p_text_length),
        length(head.text) > p_text_length,
        e.metadata,
        e.tags,
        e.summary,
        e.visibility,
        rights.is_owner,
        e.created_at,
        e.updated_at
    from get_entry_rights(p_entry_ids)
    with ordinality as rights (entry_id, version, is_owner, is_writable, place)
    inner join entry as e on e.id = rights.entry_id
    -- see search_entries()
    cross join lateral (select substr(e.text_content, 1, p_text_length + 1) as text) as head
    order by rights.place;
end;
$$;

comment on function preview_entries is
'Those of the entries that the current principal may read, in the order given; texts are cut after p_text_length characters.';
