create or replace function find_miscounts()
returns table (owner text, thread_id text, visibility text, counted bigint, noted bigint)
language sql
stable
begin atomic
    with noted as (
        select
            figure.owner,
            figure.thread_id,
            figure.visibility,
            sum(figure.entries)::bigint as entries,
            sum(figure.from_users)::bigint as from_users,
            sum(figure.multimodals)::bigint as multimodals,
            min(figure.first_entry) as first_entry,
            max(figure.last_entry) as last_entry,
            (
                array_agg(figure.last_id order by figure.last_entry desc nulls last, figure.last_id desc)
            )[1] as last_id,
            bool_and(figure.is_exact) as is_exact
        from thread_figure as figure
        group by figure.owner, figure.thread_id, figure.visibility
    )

    select
        coalesce(counted.owner, noted.owner) as owner,
        coalesce(counted.thread_id, noted.thread_id) as thread_id,
        coalesce(counted.visibility, noted.visibility) as visibility,
        coalesce(counted.entries, 0) as counted,
        coalesce(noted.entries, 0) as noted
    from counted_figures() as counted
    full join noted
        on
            counted.owner = noted.owner
            and counted.thread_id = noted.thread_id
            and counted.visibility = noted.visibility
    where
        coalesce(counted.entries, 0) <> coalesce(noted.entries, 0)
        or coalesce(counted.from_users, 0) <> coalesce(noted.from_users, 0)
        or coalesce(counted.multimodals, 0) <> coalesce(noted.multimodals, 0)
        or (
            counted.entries > 0
            and noted.is_exact
            and row(counted.first_entry, counted.last_entry, counted.last_id)
            is distinct from row(noted.first_entry, noted.last_entry, noted.last_id)
        );
end;

comment on function find_miscounts is
'For the owner of the tables: where thread_figure differs from a count over the entries, as it may after triggers were switched off. recount_threads() puts it right.';
