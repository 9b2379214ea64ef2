create or replace function json_accessor(p_path text[])
returns text
language sql
immutable
return 'metadata' || coalesce(
    (
        select string_agg(format(' -> %L', step.name), '' order by step.place)
        from unnest(p_path) with ordinality as step (name, place)
    ),
    ''
);

comment on function json_accessor is
'The SQL expression for the JSON value at a path of metadata keys. It descends into objects only: a numeric step finds nothing in an array.';
