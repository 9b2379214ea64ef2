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
    inner join entry as e on e.id = rights.entry_id
    order by rights.place;
end;
$$;

comment on function get_entries is
'Those of the entries that the current principal may read, with their full text, in the order given.';
