create or replace function compile_search(p_filter jsonb, p_limit integer, p_offset integer)
returns text
language sql
stable
return format(
    'select entry.id, entry.owner = %L from entry where %s and %s '
    'order by entry.created_at desc, entry.id desc limit %s offset %s',
    current_principal(), readable_condition(), compile_filter(p_filter), p_limit, p_offset
);

comment on function compile_search is
'The query that finds one page of readable entries, newest first: (entry id, whether the caller owns it).';
