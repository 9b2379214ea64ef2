create or replace function resolve_prefixes(p_prefixes text[])
returns table (prefix text, entry_id uuid, is_ambiguous boolean)
language plpgsql
stable
rows 10
security definer
set search_path from current
as $$
begin
    return query
    select
        asked.prefix,
        case when cardinality(matches.ids) = 1 then matches.ids[1] end,
        cardinality(matches.ids) > 1
    from unnest(p_prefixes) with ordinality as asked (prefix, place)
    cross join lateral (
        select array(
            select e.id
            from readable_entries() as e
            where
                e.id >= rpad(asked.prefix, 32, '0')::uuid
                and e.id <= rpad(asked.prefix, 32, 'f')::uuid
            limit 2
        ) as ids
    ) as matches
    order by asked.place;
end;
$$;

comment on function resolve_prefixes is
'What each prefix of an id (8 to 31 hex digits) stands for among the entries that the current principal may read: one entry, none, or several.';
