create or replace function split_words(p_text text, p_accentless boolean)
returns text
language plpgsql
immutable
strict
set search_path from current
as $$
declare
    v_text text := visible_text(p_text);
begin
    if v_text ~ '[a-z][A-Z]' then
        v_text := regexp_replace(v_text, '([a-z])([A-Z])', '\1 \2', 'g');
    end if;
    v_text := normalized_text(v_text, p_accentless);
    if octet_length(v_text) = length(v_text) then
        return btrim(regexp_replace(regexp_replace(v_text, '[^a-z0-9 ]+', ' ', 'g'), '  +', ' ', 'g'));
    end if;
    if v_text ~ ('[' || character_class('unspaced') || ']') then
        v_text := regexp_replace(v_text, '([' || character_class('unspaced') || ']+)', ' \1 ', 'g');
        -- overlapping pairs, and the last character alone
        v_text := regexp_replace(
            v_text,
            '(?<=[' || character_class('unspaced') || '])([' || character_class('unspaced') || '])', '\1 \1', 'g'
        );
    end if;
    v_text := regexp_replace(v_text, '([' || character_class('pictures') || '])', ' \1 ', 'g');
    return btrim(regexp_replace(
        v_text,
        '[' || character_class('separators') || '][' || character_class('separators')
        || character_class('marks') || ']*', ' ', 'g'
    ));
end;
$$;

comment on function split_words is
'The words of a text, not yet stemmed, apart by single spaces: runs of letters and digits, parts of identifiers (getUserById), and for scripts without spaces overlapping pairs of characters.';
