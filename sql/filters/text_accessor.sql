create or replace function text_accessor(p_path text[])
returns text
language sql
immutable
return format('%s ->> %L', json_accessor(trim_array(p_path, 1)), p_path[cardinality(p_path)]);

comment on function text_accessor is 'The SQL expression for the same value as text, for strings.';
