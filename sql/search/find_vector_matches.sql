create or replace function find_vector_matches(p_vector halfvec, p_filter jsonb, p_limit integer)
returns table (entry_id uuid, chunk_index integer, distance float8)
language plpgsql
volatile
rows 100
security definer
set search_path from current
as $$
declare
    v_way record;
    v_rows integer := p_limit;
    v_found record;
begin
    select * into v_way from plan_vector_search(p_filter, p_limit);
    if v_way.candidates is null then
        perform bind_vector_scan(v_way.ef_search);
        loop
            execute
                'select array_agg(entry_id) as entry_ids, array_agg(chunk_index) as chunk_indexes, '
                'array_agg(distance) as distances, count(*) as chunks, count(distinct entry_id) as entries '
                'from (' || compile_vector_scan(p_filter, v_rows) || ') as nearest'
            into v_found
            using p_vector;
            exit when v_found.entries >= p_limit or v_found.chunks < v_rows;
            -- several chunks of the same entries: look further
            v_rows := 4 * v_rows;
        end loop;
        perform free_vector_scan();

        if v_found.entries >= p_limit then
            return query
            select best.entry_id, best.chunk_index, best.distance
            from (
                select distinct on (chunk.entry_id) chunk.entry_id, chunk.chunk_index, chunk.distance
                from unnest(v_found.entry_ids, v_found.chunk_indexes, v_found.distances)
                as chunk (entry_id, chunk_index, distance)
                order by chunk.entry_id, chunk.distance, chunk.chunk_index
            ) as best
            order by best.distance, best.entry_id desc
            limit p_limit;
            return;
        end if;
        -- the index ended its walk, or there are no more: few of what is near is readable
        select * into v_way from plan_vector_search(p_filter, p_limit, true);
    end if;
    return query execute compile_vector_comparison(p_limit) using p_vector, v_way.candidates;
end;
$$;

comment on function find_vector_matches is
'The first wall of search by meaning: the readable entries that pass the filter, each with its nearest chunk, nearest first (L2 distance). Few candidates are all compared; among many, the vector index is walked until p_limit entries are found.';
