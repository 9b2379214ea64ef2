create or replace function visible_text(p_text text)
returns text
language sql
immutable
strict
return case
    when octet_length(p_text) = length(p_text) then p_text
    else normalize(regexp_replace(p_text, '[' || character_class('invisible') || ']', '', 'g'), nfkc)
end;

comment on function visible_text is
'A text in Unicode''s compatibility form NFKC, without what is not seen.';
