create or replace function analyze_text(p_text text)
returns table (words tsvector, word_count integer)
language plpgsql
stable
rows 1
set search_path from current
as $$
declare
    v_language constant text := coalesce(setting_value('fts_language'), 'english');
    -- the stems of these do not hang on accents, so that words are found without them from the start
    v_accentless constant boolean := v_language in ('simple', 'english');
    v_stemmer constant regdictionary := nullif(v_language || '_stems', 'simple_stems')::regdictionary;
    v_lexemes text;
begin
    -- a stem has its place, a form none; a word that is its own stem is one lexeme
    select
        string_agg(
            case
                when word.stem = word.form then word.stem || ':' || word.place
                else word.stem || ':' || word.place || ' ' || word.form
            end, ' '
        ),
        count(distinct word.stem)
    into v_lexemes, word_count
    from (
        select stem(left(split.word, 255), v_stemmer) as stem, left(split.word, 255) as form, split.place
        from string_to_table(split_words(p_text, v_accentless), ' ') with ordinality as split (word, place)
        where split.word <> ''
        offset 0
    ) as word;
    if not v_accentless then
        v_lexemes := without_accents(v_lexemes);
    end if;
    select concat_ws(' ', v_lexemes, string_agg(quote_literal(without_accents(identifier.form)), ' '))
    into v_lexemes
    from (
        select unnest(find_identifiers(p_text, v_accentless)) as form
        union all
        select unnest(array[humped.form, stem(humped.form, v_stemmer)])
        from unnest(find_humped(p_text)) as humped (form)
    ) as identifier;
    words := v_lexemes;
    if not v_accentless then
        -- stems may differ by their accents alone
        word_count := (
            select count(*) from unnest(words) as kept (lexeme, positions, weights) where kept.positions is not null
        );
    end if;
    return next;
end;
$$;

comment on function analyze_text is
'What search knows of a text: the stems of its words with their places, and without places the unstemmed words and whole identifiers that are no stems; and how many different stems there are. In the language of the setting fts_language. Its twin in the server is text/analysis.py.';
