create or replace function number_accessor(p_path text[])
returns text
language sql
immutable
return format(
    '(case when jsonb_typeof(%1$s) = ''number'' then (%1$s)::numeric end)', json_accessor(p_path)
);

comment on function number_accessor is
'The SQL expression for a metadata number, null for a value of any other type. The indexes on numeric metadata fields hold this expression.';
