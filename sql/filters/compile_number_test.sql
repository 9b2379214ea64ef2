create or replace function compile_number_test(p_path text[], p_comparison text, p_value numeric)
returns text
language sql
immutable
return case
    when is_beyond_int64(to_jsonb(p_value))
        then format(
            'to_double(%s) %s to_double(%s::numeric)', number_accessor(p_path), p_comparison, p_value
        )
    else format('%s %s %s', number_accessor(p_path), p_comparison, p_value)
end;

comment on function compile_number_test is
'Compares a metadata number with a constant: exactly, or at double precision where the constant is beyond 64-bit integers.';
