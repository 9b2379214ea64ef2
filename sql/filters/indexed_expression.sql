create or replace function indexed_expression(p_key text, p_type text)
returns text
language sql
immutable
return case
    when p_type = 'array' then folded_json(string_to_array(p_key, '.'))
    when p_type = 'object' then folded_scalars(string_to_array(p_key, '.'))
    when p_type in ('integer', 'float') then number_accessor(string_to_array(p_key, '.'))
    when p_type = 'boolean' then json_accessor(string_to_array(p_key, '.'))
    else folded_text(string_to_array(p_key, '.'))
end;

comment on function indexed_expression is
'The expression that the index on a metadata field of this type holds: the one that compiled filters test.';
