create or replace function compile_vector_scan(p_filter jsonb, p_rows integer)
returns text
language plpgsql
stable
set search_path from current
as $$
begin
    return format(
        'select nearest.entry_id, nearest.chunk_index, nearest.distance '
        'from ('
        'select chunk_embedding.entry_id, chunk_embedding.chunk_index, chunk_embedding.embedding <-> $1 as distance '
        'from chunk_embedding order by chunk_embedding.embedding <-> $1 limit 1000000000'
        ') as nearest '
        'cross join lateral (select from entry where entry.id = nearest.entry_id and %s and %s offset 0) as entry '
        'limit %s',
        readable_condition(), compile_filter(p_filter), p_rows
    );
end;
$$;

comment on function compile_vector_scan is
'The query that walks the index from the chunk nearest to $1 until it has found p_rows chunks of readable entries that pass the filter; it runs between bind_vector_scan() and free_vector_scan().';
