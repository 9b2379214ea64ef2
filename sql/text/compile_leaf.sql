create or replace function compile_leaf(p_kind text, p_text text)
returns jsonb
language plpgsql
stable
set search_path from current
as $$
declare
    v_accentless constant boolean := coalesce(setting_value('fts_language'), 'english') in ('simple', 'english');
    v_words constant text[] := leaf_words(p_text);
    v_count constant integer := cardinality(v_words);
    v_is_unspaced constant boolean := v_words[v_count] ~ ('[' || character_class('unspaced') || ']');
    -- a single character of a script without spaces is the beginning of pairs
    v_is_open constant boolean := v_is_unspaced and length(v_words[v_count]) = 1;
    v_names text[];
    v_plain text[];
    v_units text[];
begin
    if v_words is null then
        return null;
    end if;
    v_names := array(
        select distinct without_accents(named.name) collate "C" as name
        from unnest(find_identifiers(p_text, v_accentless) || find_humped(p_text)) as named (name)
        order by name
    );
    if p_kind <> 'prefix' or (v_is_unspaced and cardinality(v_names) <> 1) then
        return jsonb_build_object(
            'leaf', leaf_phrase(v_words, v_is_open),
            'units', leaf_units(v_words, v_is_open) || array(
                select quote_lexeme(named.name)
                from unnest(v_names) with ordinality as named (name, place)
                where p_kind <> 'prefix'
                order by named.place
            )
        );
    end if;
    if cardinality(v_names) = 1 then
        v_units := array[quote_lexeme(v_names[1], true)];
    else
        v_plain := string_to_array(without_accents(split_words(p_text, v_accentless)), ' ');
        v_units := leaf_units(v_words[:v_count - 1] || left(v_plain[cardinality(v_plain)], 255), true);
    end if;
    return jsonb_build_object('leaf', array_to_string(v_units, ' & '), 'units', v_units);
end;
$$;

comment on function compile_leaf is
'A leaf of a query (word, phrase or prefix) as {leaf: tsquery, units: [the lexemes that count for the score, each as a tsquery]}; null where it holds no word. A word of several is a phrase of them; an identifier counts besides.';
