create or replace function compile_scalar_test(
    p_path text[], p_comparison text, p_value jsonb, p_case_sensitive boolean
)
returns text
language sql
immutable
return case
    when jsonb_typeof(p_value) = 'string'
        then compile_string_test(p_path, p_comparison, p_value #>> '{}', p_case_sensitive)
    when jsonb_typeof(p_value) = 'number' then compile_number_test(p_path, p_comparison, p_value::numeric)
    when jsonb_typeof(p_value) = 'boolean' and p_comparison in ('=', '<>')
        -- of two booleans, not being the one is being the other
        then format('(%s) = %L::jsonb', json_accessor(p_path), to_jsonb(p_value::boolean <> (p_comparison = '<>')))
end;

comment on function compile_scalar_test is
'Compares a metadata value with a constant of the same JSON type; a value of another type never passes.';
