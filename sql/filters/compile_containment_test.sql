create or replace function compile_containment_test(p_path text[], p_value jsonb, p_case_sensitive boolean)
returns text
language sql
immutable
return format(
    '%s @> %L::jsonb', folded_json(p_path), lower(jsonb_build_array(p_value)::text collate "C")
) || case
    when p_case_sensitive then format(' and %s @> %L::jsonb', json_accessor(p_path), jsonb_build_array(p_value))
    else ''
end;

comment on function compile_containment_test is
'Tests a metadata array for an element equal to the constant; strings ignore the case of A-Z unless asked not to.';
