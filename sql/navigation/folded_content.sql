create or replace function folded_content()
returns text
language sql
immutable
return $$(
    case
        when octet_length(entry.text_content) = length(entry.text_content) then lower(entry.text_content collate "C")
        else
            replace(replace(replace(replace(
                lower(entry.text_content collate "C"),
                e'\u0130', 'i'), e'\u0131', 'i'), e'\u017f', 's'), e'\u212a', 'k')
    end
)$$;

comment on function folded_content is
'The SQL expression for a text in which A-Z, and the four other letters that are an ASCII letter in another case, are folded to a-z, whatever the locale. An ASCII text has none of the four and is spared looking for them. The trigram index holds this expression.';
