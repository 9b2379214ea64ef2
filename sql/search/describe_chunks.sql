create or replace function describe_chunks(p_entry_ids uuid[], p_chunk_indexes integer[])
returns table (
    place integer,
    begin_offset integer,
    end_offset integer,
    embedding halfvec,
    token_codes bytea,
    previous_id uuid
)
language plpgsql
stable
rows 100
set search_path from current
as $$
begin
    return query
    select
        named.place::integer,
        c.begin_offset,
        c.end_offset,
        m.embedding::halfvec,
        m.token_codes,
        previous.previous_id
    from unnest(p_entry_ids, p_chunk_indexes) with ordinality as named (entry_id, chunk_index, place)
    -- by key, one after the other: the planner knows too little of what a caller may read to choose that by itself
    cross join lateral (
        select entry.id from entry where entry.id = named.entry_id offset 0
    ) as e
    inner join chunk as c on c.entry_id = e.id and c.chunk_index = named.chunk_index
    left join chunk_embedding as m on m.entry_id = e.id and m.chunk_index = named.chunk_index
    left join find_previous_entries(p_entry_ids) as previous on previous.entry_id = e.id
    order by named.place;
end;
$$;

comment on function describe_chunks is
'What ranking has to know of chunks of readable entries: their spans, embeddings and token codes, and the readable entry before theirs in its thread. The two arrays go together; place is the position in them, from 1.';
