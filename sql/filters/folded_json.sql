create or replace function folded_json(p_path text[])
returns text
language sql
immutable
return format('lower((%s)::text collate "C")::jsonb', json_accessor(p_path));

comment on function folded_json is
'The SQL expression for a metadata array with A-Z folded in all its strings. The GIN indexes on array fields hold this expression.';
