create or replace function list_threads(p_limit integer default null, p_offset integer default 0)
returns table (
    thread_id text,
    entry_count bigint,
    source_types integer,
    multimodal_count bigint,
    first_entry timestamptz,
    last_entry timestamptz,
    last_id uuid
)
language plpgsql
stable
rows 100
security definer
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_granted constant text[] := granted_tokens(v_principal, current_groups());
begin
    return query
    with figures as (
        select * from readable_figures(v_principal, v_granted)
    ),

    noted as (
        select
            figures.thread_id,
            sum(figures.entries)::bigint as entries,
            sum(figures.from_users)::bigint as from_users,
            sum(figures.multimodals)::bigint as multimodals,
            min(figures.first_entry) as first_entry,
            max(figures.last_entry) as last_entry,
            (
                array_agg(figures.last_id order by figures.last_entry desc nulls last, figures.last_id desc)
            )[1] as last_id,
            bool_and(figures.is_exact) as is_exact
        from figures
        group by figures.thread_id
        having sum(figures.entries) > 0
    ),

    exact as (
        select
            noted.thread_id,
            noted.entries,
            noted.from_users,
            noted.multimodals,
            noted.first_entry,
            noted.last_entry,
            noted.last_id
        from noted
        where noted.is_exact
        union all
        -- where a deletion met another write
        select
            noted.thread_id,
            noted.entries,
            noted.from_users,
            noted.multimodals,
            ends.first_entry,
            ends.last_entry,
            ends.last_id
        from noted
        cross join lateral (
            select
                min(each.first_entry) as first_entry,
                max(each.last_entry) as last_entry,
                (array_agg(each.last_id order by each.last_entry desc, each.last_id desc))[1] as last_id
            from (
                select * from readable_ends(v_principal, noted.thread_id)
                union all
                select figures.first_entry, figures.last_entry, figures.last_id
                from figures
                where figures.thread_id = noted.thread_id and not figures.is_noted
            ) as each
        ) as ends
        where not noted.is_exact
    )

    select
        exact.thread_id,
        exact.entries,
        (exact.from_users > 0)::integer + (exact.from_users < exact.entries)::integer,
        exact.multimodals,
        exact.first_entry,
        exact.last_entry,
        exact.last_id
    from exact
    order by exact.last_entry desc, exact.last_id desc
    limit p_limit
    offset case when p_limit is null then 0 else p_offset end;
end;
$$;

comment on function list_threads is
'The threads with readable entries, latest activity first, in figures over those entries alone.';
