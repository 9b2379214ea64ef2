create or replace function compile_query(p_node jsonb)
returns jsonb
language plpgsql
stable
set search_path from current
as $$
declare
    v_kind constant text := (select min(kind) from jsonb_object_keys(p_node) as kind);
    v_parts jsonb;
begin
    if v_kind in ('word', 'phrase', 'prefix') then
        return compile_leaf(v_kind, p_node ->> v_kind);
    end if;
    if v_kind = 'not' then
        v_parts := compile_query(p_node -> 'not');
        return case when v_parts is not null then jsonb_build_object('not', v_parts) end;
    end if;
    select jsonb_agg(compiled.node order by part.place)
    into v_parts
    from jsonb_array_elements(p_node -> v_kind) with ordinality as part (node, place)
    cross join lateral compile_query(part.node) as compiled (node)
    where compiled.node is not null;
    return case when v_parts is not null then jsonb_build_object(v_kind, v_parts) end;
end;
$$;

comment on function compile_query is
'A query {"all": […]}, {"any": […]}, {"not": …}, {"word": "…"}, {"phrase": "…"} or {"prefix": "…"} with its leaves compiled (see compile_leaf) and those without words left out; null where nothing is left.';
