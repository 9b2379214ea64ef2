create or replace function folded_text(p_path text[])
returns text
language sql
immutable
return format(
    '(case when jsonb_typeof(%s) = ''string'' then lower((%s) collate "C") end)',
    json_accessor(p_path), text_accessor(p_path)
);

comment on function folded_text is
'The SQL expression for a metadata string with A-Z folded to a-z and nothing else, null for a value of any other type. The indexes on metadata fields hold this expression.';
