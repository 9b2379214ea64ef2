create or replace function find_identifiers(p_text text, p_accentless boolean)
returns text[]
language plpgsql
immutable
strict
set search_path from current
as $$
declare
    v_text constant text := normalized_text(visible_text(p_text), p_accentless);
    v_letter constant text := case
        when octet_length(v_text) = length(v_text) then 'a-z0-9'
        else
            '^' || character_class('separators') || character_class('unspaced') || character_class('pictures')
    end;
begin
    return array(
        select left(compound.name, 255)
        from regexp_matches(
            v_text,
            format('[%1$s]+[%2$s](?:[%1$s]|[%2$s])*', v_letter, character_class('joiners')), 'g'
        ) as found (match)
        cross join lateral (select rtrim(found.match[1], '-_./:@') as name) as compound
        where compound.name ~ ('[' || character_class('joiners') || ']')
    );
end;
$$;

comment on function find_identifiers is
'The compounds of a text (main.py, pol-358, c++), in lower case: words with joiners between them, or + and # behind them.';
