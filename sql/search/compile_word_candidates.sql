create or replace function compile_word_candidates(
    p_query jsonb, p_filter jsonb, p_limit integer, p_required text default null
)
returns text
language plpgsql
stable
set search_path from current
as $$
declare
    v_units constant text[] := query_units(p_query);
    v_whole constant text := query_condition(p_query, '(%s)', ' & ', ' | ', '!');
    v_condition text := format('chunk.words @@ %L::tsquery', v_whole);
    v_cover text := 'null::float8';
begin
    -- the words of an entry of several chunks may be spread over them
    if p_query ? 'all' or p_query -> 'any' @? '$[*].all' then
        v_condition := format(
            '(not chunk.is_part and %s or chunk.is_part and chunk.words @@ %L::tsquery and %s)',
            v_condition,
            array_to_string(v_units, ' | '),
            query_condition(p_query, 'holds_words(chunk.entry_id, %L)', ' and ', ' or ', 'not ')
        );
    end if;
    if p_required is not null then
        v_condition := v_condition || format(' and chunk.words @@ %L::tsquery', p_required);
    end if;
    if setting_value('fts_ranking') = 'cover_density' then
        v_cover := format('ts_rank_cd(chunk.words, %L::tsquery)::float8', v_whole);
    end if;
    return format(
        'select entry.id, entry.created_at, chunk.chunk_index, chunk.word_count, %s as cover, %s '
        'from chunk inner join entry on entry.id = chunk.entry_id where %s and %s and %s '
        'order by entry.created_at desc, entry.id desc, chunk.chunk_index limit %s',
        v_cover,
        (
            -- the saturating frequency of a lexeme in a chunk, in whole millionths
            select string_agg(
                format(
                    'round(ts_rank(''{1,1,1,1}'', chunk.words, %L::tsquery) * 1e6)::integer as frequency_%s',
                    unit.lexeme, unit.place
                ), ', ' order by unit.place
            )
            from unnest(v_units) with ordinality as unit (lexeme, place)
        ),
        v_condition, readable_condition(), compile_filter(p_filter), p_limit
    );
end;
$$;

comment on function compile_word_candidates is
'The query that finds the newest p_limit chunks of readable entries that pass a filter and match a compiled query: (id, created_at, chunk_index, word_count, cover, frequency_1, …), with a frequency for each of query_units(). With p_required, only chunks that match this tsquery too.';
