create or replace function compile_candidates(
    p_filter jsonb, p_needles text[], p_limit integer, p_created_before timestamptz, p_id_before uuid
)
returns text
language sql
stable
return format(
    case
        when cardinality(p_needles) = 0
            then
                'select entry.id, entry.owner = %1$L from entry where %2$s '
                'order by entry.created_at desc, entry.id desc limit %4$s'
        -- A common string turns up among the newest entries soon enough; for a rarer one the trigram index is
        -- asked, about the entries before them, and only when they did not suffice.
        else
            'with newest as materialized ('
            'select entry.id, entry.created_at from entry where %2$s '
            'order by entry.created_at desc, entry.id desc limit %7$s), '
            'recent as materialized ('
            'select entry.id, entry.owner, entry.created_at from newest '
            'inner join entry on entry.id = newest.id '
            -- folded once, not for every needle
            'cross join lateral (select %6$s as folded offset 0) as content '
            'where content.folded like any (%5$L::text[]) '
            'order by newest.created_at desc, newest.id desc limit %4$s), '
            'earlier as materialized ('
            'select entry.id, entry.owner, entry.created_at from entry where %2$s and %3$s '
            'and (entry.created_at, entry.id) < ('
            'select newest.created_at, newest.id from newest order by newest.created_at, newest.id limit 1) '
            'and (select count(*) from recent) < %4$s and (select count(*) from newest) = %7$s) '
            'select found.id, found.owner = %1$L '
            'from (select * from recent union all select * from earlier) as found '
            'order by found.created_at desc, found.id desc limit %4$s'
    end,
    current_principal(),
    concat_ws(
        ' and ',
        readable_condition(),
        compile_filter(p_filter),
        case
            when p_id_before is not null
                then format(
                    '(entry.created_at, entry.id) < (%L::timestamptz, %L::uuid)', p_created_before, p_id_before
                )
        end
    ),
    compile_needles(p_needles),
    p_limit,
    like_patterns(p_needles),
    folded_content(),
    200 + 4 * p_limit
);

comment on function compile_candidates is
'The query that finds the readable entries that pass a filter and hold one of the needles (see compile_needles), newest first: (entry id, whether the caller owns it).';
