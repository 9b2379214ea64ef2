create or replace function search_entries(
    p_filter jsonb default '{}',
    p_limit integer default 30,
    p_offset integer default 0,
    p_text_length integer default 300
)
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
        found.is_owner,
        e.created_at,
        e.updated_at
    from find_entries(p_filter, p_limit, p_offset) with ordinality as found (entry_id, is_owner, place)
    -- one by one; see get_entries()
    cross join lateral (
        select
            entry.id, entry.thread_id, entry.source, entry.content_type, entry.text_content, entry.metadata,
            entry.tags, entry.summary, entry.visibility, entry.created_at, entry.updated_at
        from entry
        where entry.id = found.entry_id
        limit 1
    ) as e
    -- one code point more than asked for tells whether there is more, without reading a long text to its end
    cross join lateral (select substr(e.text_content, 1, p_text_length + 1) as text) as head
    order by found.place;
end;
$$;

comment on function search_entries is
'One page of the readable entries that pass a filter (see compile_filter), newest first; texts are cut after p_text_length characters.';
