create or replace function rank_hybrid(
    p_query jsonb,
    p_vector halfvec,
    p_filter jsonb default '{}',
    p_method text default 'rrf',
    p_rrf_k integer default 60,
    p_leg_limit integer default 200,
    p_limit integer default 100
)
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
    fused_score double precision,
    fts_count integer,
    semantic_count integer,
    common_count integer
)
language plpgsql
stable
rows 100
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    with words as materialized (
        select leg.entry_id, leg.chunk_index, leg.score, leg.rank::integer as rank
        from find_word_matches(p_query, p_filter, p_leg_limit)
        with ordinality as leg (entry_id, chunk_index, score, rank)
        where p_query is not null
    ),

    vectors as materialized (
        select leg.entry_id, leg.chunk_index, leg.distance, leg.rank::integer as rank
        from find_vector_matches(p_vector, p_filter, p_leg_limit)
        with ordinality as leg (entry_id, chunk_index, distance, rank)
        where p_vector is not null
    ),

    -- a score of 0 to 1 within each leg: the share of the best one, and the cosine between the farthest and the nearest
    matches as materialized (
        select
            words.entry_id,
            1 as leg,
            words.rank,
            words.score / nullif(max(words.score) over (), 0) as score
        from words
        union all
        select
            vectors.entry_id,
            2 as leg,
            vectors.rank,
            (max(vectors.distance ^ 2) over () - vectors.distance ^ 2)
            / nullif(max(vectors.distance ^ 2) over () - min(vectors.distance ^ 2) over (), 0) as score
        from vectors
    ),

    fused as materialized (
        select fusion.entry_id, fusion.score
        from fuse_ranks(
            array(select matches.entry_id from matches order by matches.leg, matches.rank),
            array(select matches.leg from matches order by matches.leg, matches.rank),
            array(select matches.rank from matches order by matches.leg, matches.rank),
            array(select coalesce(matches.score, 1) from matches order by matches.leg, matches.rank),
            p_method,
            p_rrf_k
        ) as fusion
        order by fusion.score desc, fusion.entry_id desc
        limit p_limit
    ),

    placed as materialized (
        select
            fused.entry_id,
            fused.score,
            coalesce(vectors.chunk_index, words.chunk_index) as chunk_index,
            words.score as fts_score,
            words.rank as fts_rank,
            vectors.distance as semantic_distance,
            vectors.rank as semantic_rank,
            row_number() over (order by fused.score desc, fused.entry_id desc) as place
        from fused
        left join words on words.entry_id = fused.entry_id
        left join vectors on vectors.entry_id = fused.entry_id
    ),

    counts as (
        select
            (select count(*) from words)::integer as words,
            (select count(*) from vectors)::integer as vectors,
            (select count(*) from words inner join vectors using (entry_id))::integer as common
    )

    select
        placed.entry_id,
        placed.chunk_index,
        described.begin_offset,
        described.end_offset,
        described.token_codes,
        described.previous_id,
        placed.fts_score,
        placed.fts_rank,
        -- also where the vectors have not found the entry, so that a reranker can compare all of them
        coalesce(placed.semantic_distance, described.embedding <-> p_vector),
        placed.semantic_rank,
        placed.score,
        counts.words,
        counts.vectors,
        counts.common
    from describe_chunks(
        array(select placed.entry_id from placed order by placed.place),
        array(select placed.chunk_index from placed order by placed.place)
    ) as described
    inner join placed on placed.place = described.place
    cross join counts
    order by placed.place;
end;
$$;

comment on function rank_hybrid is
'The readable entries that match best by words and by meaning together, best first: each leg finds p_leg_limit of its own, fuse_ranks() makes one order of them. Without p_query or without p_vector the other leg stands alone. semantic_distance is also given where semantic_rank is null.';
