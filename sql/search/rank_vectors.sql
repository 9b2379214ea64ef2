create or replace function rank_vectors(p_vector halfvec, p_filter jsonb default '{}', p_limit integer default 100)
returns table (
    entry_id uuid,
    chunk_index integer,
    begin_offset integer,
    end_offset integer,
    token_codes bytea,
    previous_id uuid,
    fts_score double precision,
    fts_rank integer,
    semantic_distance double precision,
    semantic_rank integer,
    fused_score double precision
)
language plpgsql
stable
rows 100
set search_path from current
as $$
begin
    return query
    with match as materialized (
        select found.entry_id, found.chunk_index, found.distance, found.place
        from find_vector_matches(p_vector, p_filter, p_limit)
        with ordinality as found (entry_id, chunk_index, distance, place)
    )

    select
        match.entry_id,
        match.chunk_index,
        described.begin_offset,
        described.end_offset,
        described.token_codes,
        described.previous_id,
        null::double precision,
        null::integer,
        match.distance,
        match.place::integer,
        null::double precision
    from describe_chunks(
        array(select match.entry_id from match order by match.place),
        array(select match.chunk_index from match order by match.place)
    ) as described
    inner join match on match.place = described.place
    order by match.place;
end;
$$;

comment on function rank_vectors is
'Search by meaning: the p_limit readable entries that pass the filter and whose nearest chunk is nearest to the vector, with that chunk and the entry before in the thread; semantic_distance is the L2 distance.';
