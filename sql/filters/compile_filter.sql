create or replace function compile_filter(p_filter jsonb)
returns text
language sql
stable
begin atomic
    with conditions (test) as (
        select format('entry.thread_id = %L', p_filter ->> 'thread_id')
        where p_filter ? 'thread_id'
        union all
        select format('entry.source = %L', p_filter ->> 'source')
        where p_filter ? 'source'
        union all
        select format('entry.content_type = %L', p_filter ->> 'content_type')
        where p_filter ? 'content_type'
        union all
        select format('entry.tags && %L::text[]', array(select jsonb_array_elements_text(p_filter -> 'tags')))
        where p_filter ? 'tags'
        union all
        select format('entry.created_at >= %L::timestamptz', p_filter ->> 'created_from')
        where p_filter ? 'created_from'
        union all
        select format('entry.created_at <= %L::timestamptz', p_filter ->> 'created_to')
        where p_filter ? 'created_to'
        union all
        select compile_condition(condition.value)
        from jsonb_array_elements(p_filter -> 'metadata') as condition
    )

    select coalesce(string_agg(test, ' and '), 'true') from conditions;
end;

comment on function compile_filter is
'Compiles a filter document {thread_id, source, tags, content_type, created_from, created_to, metadata: [conditions]} to one predicate on entry. Operators come from a closed list, constants are quoted.';
