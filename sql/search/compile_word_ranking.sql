create or replace function compile_word_ranking(p_query jsonb, p_candidates text, p_statistics jsonb default null)
returns text
language plpgsql
stable
set search_path from current
as $$
declare
    v_weights text;
    v_score text;
    v_counts text;
begin
    select
        string_agg(
            format(
                'ln(1 + (%1$s - %2$s + 0.5) / (%2$s + 0.5)) as weight_%3$s',
                coalesce(p_statistics ->> 'count', 'count(*)') || '::float8',
                coalesce(
                    p_statistics -> 'frequencies' ->> (unit.place - 1)::integer,
                    format('count(*) filter (where frequency_%s > 0)', unit.place)
                ) || '::float8',
                unit.place
            ), ', ' order by unit.place
        ),
        string_agg(format('frequency_%1$s * weight_%1$s', unit.place), ' + ' order by unit.place),
        string_agg(format('count(*) filter (where frequency_%s > 0)', unit.place), ', ' order by unit.place)
    into v_weights, v_score, v_counts
    from unnest(query_units(p_query)) with ordinality as unit (lexeme, place);
    return format(
        'with candidate as materialized (%s), '
        'collection as materialized (select %s as average_length, %s %s), '
        'best as (select distinct on (id) id, created_at, chunk_index, coalesce(cover, (%s) '
        '/ (1e6::float8 * (0.6::float8 + 0.4::float8 * (word_count / average_length)))) as score '
        'from candidate cross join collection order by id, score desc, chunk_index) '
        'select array_agg(id) as ids, array_agg(chunk_index) as chunk_indexes, array_agg(score) as scores, '
        '(select jsonb_build_object(''count'', count(*), '
        '''average_length'', sum(word_count)::float8 / count(*), ''frequencies'', to_jsonb(array[%s])) '
        'from candidate) as statistics '
        'from (select id, chunk_index, score from best order by score desc, created_at desc, id desc limit $1) as page',
        p_candidates,
        coalesce(p_statistics ->> 'average_length' || '::float8', 'sum(word_count)::float8 / count(*)'),
        v_weights,
        case when p_statistics is null then 'from candidate' end,
        v_score,
        v_counts
    );
end;
$$;

comment on function compile_word_ranking is
'The query that ranks candidates (see compile_word_candidates) for a compiled query and takes the best $1 entries, each with its best chunk: (ids, chunk_indexes, scores), and the statistics of the candidates that the scores are made of. With p_statistics, those count instead.';
