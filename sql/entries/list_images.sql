create or replace function list_images(p_entry_ids uuid[])
returns table (entry_id uuid, "position" integer, data bytea, mime_type text, metadata text)
language plpgsql
stable
set search_path from current
as $$
begin
    return query
    select i.entry_id, i.position, i.data, i.mime_type, i.metadata
    from get_entry_rights(p_entry_ids)
    with ordinality as rights (entry_id, version, is_owner, is_writable, place)
    inner join entry_image as i on i.entry_id = rights.entry_id
    order by rights.place, i.position;
end;
$$;

comment on function list_images is 'The images of those of the entries that the current principal may read.';
