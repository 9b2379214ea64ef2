create or replace function compile_object_hint(p_path text[], p_value jsonb)
returns text
language sql
stable
return case
    when
        setting_value('metadata_indexed_fields')::jsonb ->> p_path[1] = 'object'
        and not is_beyond_int64(p_value)
        then format(
            ' and %s @> %L::jsonb',
            folded_scalars(p_path[:1]), lower(jsonb_build_array(p_value)::text collate "C")
        )
end;

comment on function compile_object_hint is
'For an equality inside an object that has a GIN index, the wider test that the index can answer; else null.';
