create or replace function leaf_phrase(p_words text[], p_is_open boolean)
returns text
language sql
immutable
return (
    select
        string_agg(
            quote_lexeme(word.lexeme, p_is_open and word.place = cardinality(p_words)), ' <-> ' order by word.place
        )
    from unnest(p_words) with ordinality as word (lexeme, place)
);

comment on function leaf_phrase is
'These words next to each other and in order, as a tsquery; the last one is the beginning of words where p_is_open says so.';
