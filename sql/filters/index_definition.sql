create or replace function index_definition(p_key text, p_type text)
returns text
language sql
immutable
return case
    when p_type in ('array', 'object')
        then format('using gin ((%s) jsonb_path_ops)', indexed_expression(p_key, p_type))
    else
        -- in the order of the listing, so that the newest entries with a value are the first ones met
        format(
            '((%1$s), created_at desc, id desc) where (%1$s) is not null', indexed_expression(p_key, p_type)
        )
end;

comment on function index_definition is
'What follows "create index ... on entry" for a metadata field. Entries without the field take no room in the index.';
