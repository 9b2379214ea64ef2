create or replace function find_humped(p_text text)
returns text[]
language plpgsql
immutable
strict
set search_path from current
as $$
declare
    v_text constant text := visible_text(p_text);
begin
    if v_text !~ '[a-z][A-Z]' then
        return '{}';
    end if;
    return array(
        select left(lower(found.match[1] collate "C"), 255)
        from regexp_matches(v_text, '[A-Za-z0-9]+', 'g') as found (match)
        where found.match[1] ~ '[a-z][A-Z]'
    );
end;
$$;

comment on function find_humped is 'The identifiers with humps of a text (getUserById), in lower case.';
