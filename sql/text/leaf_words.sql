create or replace function leaf_words(p_text text)
returns text[]
language plpgsql
stable
set search_path from current
as $$
declare
    v_words text[];
    v_count integer;
    v_unspaced constant text := '^[' || character_class('unspaced') || ']';
begin
    select array_agg(lexeme.name order by place.number)
    into v_words
    from analyze_text(p_text) as analysis
    cross join lateral unnest(analysis.words) as lexeme (name, positions, weights)
    cross join lateral unnest(lexeme.positions) as place (number);
    v_count := cardinality(v_words);
    if v_words[v_count] !~ v_unspaced or length(v_words[v_count]) > 1 then
        return v_words;
    end if;
    -- the last character of a run stands alone behind its pairs: the last pair says it all
    if length(v_words[v_count - 1]) = 2 and v_words[v_count - 1] ~ (v_unspaced || v_words[v_count] || '$') then
        return v_words[:v_count - 1];
    end if;
    return v_words;
end;
$$;

comment on function leaf_words is
'The stems of what a leaf of a query holds, in order; null for none. Of a run in a script without spaces, its pairs.';
