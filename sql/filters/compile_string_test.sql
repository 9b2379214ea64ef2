create or replace function compile_string_test(
    p_path text[], p_comparison text, p_value text, p_case_sensitive boolean
)
returns text
language sql
immutable
return case
    when p_case_sensitive and p_comparison = '='
        -- the first test is the one that an index can answer
        then format(
            '%s = %L and %s = %L',
            folded_text(p_path), lower(p_value collate "C"), exact_text(p_path), p_value
        )
    when p_case_sensitive then format('%s %s %L', exact_text(p_path), p_comparison, p_value)
    else format('%s %s %L', folded_text(p_path), p_comparison, lower(p_value collate "C"))
end;

comment on function compile_string_test is
'Compares a metadata string with a constant by code point, ignoring the case of A-Z unless asked not to.';
