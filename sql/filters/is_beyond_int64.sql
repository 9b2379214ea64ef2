create or replace function is_beyond_int64(p_value jsonb)
returns boolean
language sql
immutable
return case
    when jsonb_typeof(p_value) = 'number' then abs(p_value::numeric) >= 9223372036854775808
    else false
end;

comment on function is_beyond_int64 is
'Whether a JSON value is a number too large for 64-bit integers, which compares at double precision.';
