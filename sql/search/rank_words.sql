create or replace function rank_words(p_query jsonb, p_filter jsonb default '{}', p_limit integer default 100)
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
        select found.entry_id, found.chunk_index, found.score, found.place
        from find_word_matches(p_query, p_filter, p_limit)
        with ordinality as found (entry_id, chunk_index, score, place)
    )

    select
        match.entry_id,
        match.chunk_index,
        described.begin_offset,
        described.end_offset,
        described.token_codes,
        described.previous_id,
        match.score,
        null::integer,
        null::double precision,
        null::integer,
        null::double precision
    from describe_chunks(
        array(select match.entry_id from match order by match.place),
        array(select match.chunk_index from match order by match.place)
    ) as described
    inner join match on match.place = described.place
    order by match.place;
end;
$$;

comment on function rank_words is
'Search by words: the p_limit readable entries that pass the filter and match the query best (see find_word_matches), with their best chunk and the entry before in the thread.';
