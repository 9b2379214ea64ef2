create or replace function without_accents(p_text text)
returns text
language sql
immutable
strict
return case
    when octet_length(p_text) = length(p_text) then p_text
    else translate(
        replace(replace(replace(
            normalize(
                regexp_replace(normalize(p_text, nfd), '(?<=[^ ])[' || character_class('marks') || ']+', '', 'g'),
                nfc
            ),
            'æ', 'ae'
        ), 'œ', 'oe'), 'ß', 'ss'),
        'ıøđłħŧ', 'iodlht'
    )
end;

comment on function without_accents is
'A text in lower case without accents, Hebrew points and Arabic vowel signs, and with plain letters for those that only look crossed out.';
