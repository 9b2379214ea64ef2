create or replace function create_metadata_index(p_index_name text, p_key text, p_type text)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    execute format('create index %I on entry %s', p_index_name, index_definition(p_key, p_type));
    execute format('comment on index %I is %L', p_index_name, p_key);
    if p_type not in ('array', 'object') then
        -- the planner does not use the statistics of a partial index, and has no others of an expression
        execute format(
            'create statistics %I on (%s) from entry',
            p_index_name || '_statistics', indexed_expression(p_key, p_type)
        );
    end if;
end;
$$;

comment on function create_metadata_index is
'Creates the index on one metadata field, and for scalars the statistics by which the planner knows how common a value is.';
