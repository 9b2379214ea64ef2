create or replace function like_patterns(p_needles text[])
returns text[]
language sql
immutable
return array(
    select '%' || replace(replace(replace(needle, '\', '\\'), '%', '\%'), '_', '\_') || '%'
    from unnest(p_needles) as needle
);

comment on function like_patterns is 'The patterns that LIKE finds strings with, wherever in a text they stand.';
