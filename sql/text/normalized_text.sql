create or replace function normalized_text(p_text text, p_accentless boolean)
returns text
language plpgsql
immutable
strict
set search_path from current
as $$
begin
    if octet_length(p_text) = length(p_text) then
        return lower(p_text collate "C");
    end if;
    if p_accentless then
        return without_accents(normalized_text(p_text, false));
    end if;
    -- two letters whose lower case depends on their place or on the language
    return translate(lower_text(translate(p_text, 'İ', 'I')), 'ς', 'σ');
end;
$$;

comment on function normalized_text is
'A visible text (see visible_text) as its words are taken from it: in lower case, and without accents where p_accentless says so.';
