create or replace function to_double(p_value numeric)
returns double precision
language sql
immutable
strict
return case
    when p_value > 1.7976931348623157e308 then 'infinity'::double precision
    when p_value < -1.7976931348623157e308 then '-infinity'::double precision
    when abs(p_value) < 4.9406564584124654e-324 then 0::double precision
    else p_value::double precision
end;

comment on function to_double is 'A number at double precision; what is too large or too small for it does not raise.';
