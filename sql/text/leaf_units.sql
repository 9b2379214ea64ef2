create or replace function leaf_units(p_words text[], p_is_open boolean)
returns text[]
language sql
immutable
return array(
    select quote_lexeme(unit.lexeme, unit.is_prefix)
    from (
        select distinct
            word.lexeme collate "C" as lexeme,
            p_is_open and word.place = cardinality(p_words) as is_prefix
        from unnest(p_words) with ordinality as word (lexeme, place)
    ) as unit
    order by unit.lexeme, unit.is_prefix
);

comment on function leaf_units is
'These words as operands of a tsquery, each once; the last one is the beginning of words where p_is_open says so.';
