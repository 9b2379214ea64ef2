create or replace function folded_content()
returns text
language sql
immutable
return $$replace(replace(replace(replace(
    lower(entry.text_content collate "C"), e'\u0130', 'i'), e'\u0131', 'i'), e'\u017f', 's'), e'\u212a', 'k')$$;

comment on function folded_content is
'The SQL expression for a text in which A-Z, and the four other letters that are an ASCII letter in another case, are folded to a-z, whatever the locale. The trigram index holds this expression.';
