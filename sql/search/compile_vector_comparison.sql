create or replace function compile_vector_comparison(p_limit integer)
returns text
language sql
immutable
return format(
    'select best.entry_id, best.chunk_index, best.distance '
    'from ('
    'select distinct on (compared.entry_id) compared.entry_id, compared.chunk_index, compared.distance '
    'from ('
    'select chunk_embedding.entry_id, chunk_embedding.chunk_index, chunk_embedding.embedding <-> $1 as distance '
    'from unnest($2) as candidate (id) '
    'inner join chunk_embedding on chunk_embedding.entry_id = candidate.id '
    'offset 0'
    ') as compared '
    'order by compared.entry_id, compared.distance, compared.chunk_index'
    ') as best '
    'order by best.distance, best.entry_id desc '
    'limit %s',
    p_limit
);

comment on function compile_vector_comparison is
'The query that compares $1 with every chunk of the entries $2: the nearest chunk of each of the p_limit nearest entries.';
