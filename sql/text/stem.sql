create or replace function stem(p_word text, p_stemmer regdictionary)
returns text
language sql
immutable
return case when p_stemmer is null then p_word else coalesce((ts_lexize(p_stemmer, p_word))[1], p_word) end;

comment on function stem is 'The stem of a word in lower case; the word itself without a stemmer.';
