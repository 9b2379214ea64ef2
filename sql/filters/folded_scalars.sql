create or replace function folded_scalars(p_path text[])
returns text
language sql
immutable
return format(
    'lower(jsonb_path_query_array(%s, ''$.** ? (@.type() != "object" && @.type() != "array")'')::text '
    'collate "C")::jsonb',
    json_accessor(p_path)
);

comment on function folded_scalars is
'The SQL expression for an array of everything inside a metadata object, at any depth, with A-Z folded in the strings. The GIN indexes on object fields hold this expression; keys are left out of it, because two of them may differ in case alone.';
