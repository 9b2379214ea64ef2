create or replace function exact_text(p_path text[])
returns text
language sql
immutable
return format(
    '(case when jsonb_typeof(%s) = ''string'' then (%s) collate "C" end)',
    json_accessor(p_path), text_accessor(p_path)
);

comment on function exact_text is
'The SQL expression for a metadata string as it stands, null for a value of any other type.';
