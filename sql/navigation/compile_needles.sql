create or replace function compile_needles(p_needles text[])
returns text
language sql
immutable
return (
    select '(' || string_agg(format('%s like %L', folded_content(), pattern), ' or ') || ')'
    from unnest(like_patterns(p_needles)) as pattern
);

comment on function compile_needles is
'Compiles folded strings to a predicate on entry that the trigram index can answer: the folded text holds one of them.';
