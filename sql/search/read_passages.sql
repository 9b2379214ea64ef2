create or replace function read_passages(p_entry_ids uuid[], p_chunk_indexes integer[])
returns table (entry_id uuid, chunk_index integer, content text)
language plpgsql
stable
rows 100
set search_path from current
as $$
begin
    return query
    select
        named.entry_id,
        named.chunk_index,
        substr(e.text_content, c.begin_offset + 1, c.end_offset - c.begin_offset)
    from unnest(p_entry_ids, p_chunk_indexes) with ordinality as named (entry_id, chunk_index, place)
    inner join entry as e on e.id = named.entry_id
    inner join chunk as c on c.entry_id = named.entry_id and c.chunk_index = named.chunk_index
    order by named.place;
end;
$$;

comment on function read_passages is
'The text of chunks of readable entries, in the order given; the two arrays go together.';
