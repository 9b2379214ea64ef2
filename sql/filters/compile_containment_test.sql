create or replace function compile_containment_test(p_path text[], p_value jsonb, p_case_sensitive boolean)
returns text
language sql
immutable
return case
    when is_beyond_int64(p_value)
        then format(
            'exists (select from jsonb_array_elements(case when jsonb_typeof(%1$s) = ''array'' then %1$s end) '
            'as element (value) where to_double(case when jsonb_typeof(element.value) = ''number'' '
            'then element.value::numeric end) = to_double(%2$s::numeric))',
            json_accessor(p_path), p_value
        )
    else
        format('%s @> %L::jsonb', folded_json(p_path), lower(jsonb_build_array(p_value)::text collate "C"))
        || case
            when p_case_sensitive
                then format(' and %s @> %L::jsonb', json_accessor(p_path), jsonb_build_array(p_value))
            else ''
        end
end;

comment on function compile_containment_test is
'Tests a metadata array for an element equal to the constant; strings ignore the case of A-Z unless asked not to.';
