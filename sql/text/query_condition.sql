create or replace function query_condition(p_node jsonb, p_leaf_format text, p_and text, p_or text, p_not text)
returns text
language plpgsql
stable
set search_path from current
as $$
begin
    if p_node ? 'leaf' then
        return format(p_leaf_format, p_node ->> 'leaf');
    end if;
    if p_node ? 'not' then
        return p_not || '(' || query_condition(p_node -> 'not', p_leaf_format, p_and, p_or, p_not) || ')';
    end if;
    return (
        select '(' || string_agg(
            query_condition(part.node, p_leaf_format, p_and, p_or, p_not),
            case when p_node ? 'all' then p_and else p_or end order by part.place
        ) || ')'
        from jsonb_array_elements(coalesce(p_node -> 'all', p_node -> 'any')) with ordinality as part (node, place)
    );
end;
$$;

comment on function query_condition is
'A compiled query written out with these operators, its leaves by format().';
