create or replace function find_word_matches(
    p_query jsonb, p_filter jsonb default '{}', p_limit integer default 100
)
returns table (entry_id uuid, chunk_index integer, score double precision)
language plpgsql
stable
rows 100
security definer
set search_path from current
set enable_seqscan to off
set enable_hashjoin to off
set enable_mergejoin to off
set random_page_cost to 1.1
set max_parallel_workers_per_gather to 0
set jit to off
as $$
declare
    v_query constant jsonb := compile_query(p_query);
    v_units constant text[] := query_units(v_query);
    v_bound constant integer := 1000;
    v_candidates text;
    v_rare text;
    v_found record;
begin
    if coalesce(cardinality(v_units), 0) = 0 then
        return;
    end if;
    v_candidates := compile_word_candidates(v_query, p_filter, v_bound);
    execute compile_word_ranking(v_query, v_candidates) into v_found using p_limit;
    if (v_found.statistics ->> 'count')::integer = v_bound then
        -- there may be more: those with words that are rare among these are candidates besides
        select string_agg(unit.lexeme, ' | ')
        into v_rare
        from unnest(v_units, array(select jsonb_array_elements_text(v_found.statistics -> 'frequencies'))::integer[])
        as unit (lexeme, frequency)
        where unit.frequency <= v_bound / 10;
        if v_rare is not null then
            execute compile_word_ranking(
                v_query,
                format('(%s) union (%s)', v_candidates, compile_word_candidates(v_query, p_filter, v_bound, v_rare)),
                v_found.statistics
            ) into v_found using p_limit;
        end if;
    end if;
    return query
    select page.entry_id, page.chunk_index, page.score
    from unnest(v_found.ids, v_found.chunk_indexes, v_found.scores) as page (entry_id, chunk_index, score);
end;
$$;

comment on function find_word_matches is
'The first wall of search by words: the readable entries that pass a filter and match a query (see compile_query), each with its best chunk, best first. Only readable chunks count for the scores. Of more than a thousand matching chunks, the newest thousand are ranked, and a thousand with words that are rare among those.';
