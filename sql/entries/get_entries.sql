create or replace function get_entries(p_entry_ids uuid[])
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
        e.text_content,
        false,
        e.metadata,
        e.tags,
        e.summary,
        e.visibility,
        rights.is_owner,
        e.created_at,
        e.updated_at
    from get_entry_rights(p_entry_ids)
    with ordinality as rights (entry_id, version, is_owner, is_writable, place)
    -- one by one: the planner guesses that the policy lets one entry in a hundred pass, and in tables of some thousand
    -- entries would rather fetch all that pass it
    cross join lateral (
        select
            entry.id, entry.thread_id, entry.source, entry.content_type, entry.text_content, entry.metadata,
            entry.tags, entry.summary, entry.visibility, entry.created_at, entry.updated_at
        from entry
        where entry.id = rights.entry_id
        limit 1
    ) as e
    order by rights.place;
end;
$$;

comment on function get_entries is
'Those of the entries that the current principal may read, with their full text, in the order given.';
