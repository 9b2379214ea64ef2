create or replace function compile_object_hint(p_path text[], p_value jsonb)
returns text
language sql
stable
begin atomic
    with recursive nesting (depth, document) as (
        select cardinality(p_path), p_value
        union all
        select nesting.depth - 1, jsonb_build_object(p_path[nesting.depth], nesting.document)
        from nesting
        where nesting.depth > 1
    )

    select format(' and %s @> %L::jsonb', folded_json(p_path[:1]), lower(nesting.document::text collate "C"))
    from nesting
    where
        nesting.depth = 1
        and setting_value('metadata_indexed_fields')::jsonb ->> p_path[1] = 'object';
end;

comment on function compile_object_hint is
'For an equality inside an object that has a GIN index, the wider test that the index can answer; else null.';
