create or replace function query_units(p_node jsonb)
returns text[]
language plpgsql
stable
set search_path from current
as $$
begin
    if p_node ? 'not' then
        return '{}';
    end if;
    if p_node ? 'leaf' then
        return text_array(p_node -> 'units');
    end if;
    return array(
        select unit.name
        from jsonb_array_elements(coalesce(p_node -> 'all', p_node -> 'any')) with ordinality as part (node, place)
        cross join lateral unnest(query_units(part.node)) with ordinality as unit (name, number)
        group by unit.name
        order by min(array[part.place, unit.number])
        -- what nobody types, but somebody pastes
        limit 500
    );
end;
$$;

comment on function query_units is
'The lexemes of a compiled query that count for the score, each once and as a tsquery; none of what must not match.';
