create or replace function read_texts(p_entry_ids uuid[])
returns table (entry_id uuid, text_content text)
language plpgsql
stable
rows 100
set search_path from current
as $$
begin
    return query
    select e.id, e.text_content
    from get_entry_rights(p_entry_ids)
    with ordinality as rights (entry_id, version, is_owner, is_writable, place)
    inner join entry as e on e.id = rights.entry_id
    order by rights.place;
end;
$$;

comment on function read_texts is
'The texts of those of the entries that the current principal may read, in the order given.';
