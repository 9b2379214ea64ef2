create or replace function compile_condition(p_condition jsonb)
returns text
language plpgsql
stable
set search_path from current
as $$
declare
    v_operator constant text := p_condition ->> 'operator';
    v_path constant text[] := string_to_array(p_condition ->> 'key', '.');
    v_value constant jsonb := p_condition -> 'value';
    v_case_sensitive constant boolean := coalesce((p_condition ->> 'case_sensitive')::boolean, false);
    v_type constant text := format('coalesce(jsonb_typeof(%s), ''null'')', json_accessor(v_path));
    v_comparisons constant jsonb
    := '{"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}';
    v_test text;
begin
    case
        when v_operator in ('exists', 'is_not_null') then
            v_test := v_type || ' <> ''null''';
        when v_operator = 'not_exists' then
            v_test := v_type || ' = ''null''';
        when v_operator = 'is_null' then
            v_test := format('jsonb_typeof(%s) = ''null''', json_accessor(v_path));
        when v_operator in ('contains', 'starts_with', 'ends_with') then
            v_test := compile_substring_test(v_path, v_operator, v_value #>> '{}', v_case_sensitive);
        when v_operator in ('in', 'not_in') then
            v_test := compile_membership_test(v_path, v_value, v_case_sensitive, v_operator = 'not_in');
        when v_operator = 'array_contains' then
            v_test := compile_containment_test(v_path, v_value, v_case_sensitive);
        when v_comparisons ? v_operator then
            v_test := compile_scalar_test(
                v_path, v_comparisons ->> v_operator, v_value, v_case_sensitive
            );
            if v_operator = 'eq' and cardinality(v_path) > 1 then
                v_test := v_test || coalesce(compile_object_hint(v_path, v_value), '');
            end if;
        else
            v_test := null;
    end case;
    if v_test is null then
        perform raise_error('PC030', 'This metadata condition cannot be applied', p_condition);
    end if;
    return '(' || v_test || ')';
end;
$$;

comment on function compile_condition is
'Compiles one metadata condition {key, operator, value, case_sensitive} to a predicate on entry.metadata; the sixteen operators are described in docs/filters.md.';
