create or replace function count_added()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    with counted as (
        select
            added.owner,
            added.thread_id,
            added.visibility,
            count(*) as entries,
            count(*) filter (where added.source = 'user') as from_users,
            count(*) filter (where added.content_type = 'multimodal') as multimodals,
            min(added.created_at) as first_entry,
            max(added.created_at) as last_entry,
            (array_agg(added.id order by added.created_at desc, added.id desc))[1] as last_id
        from added
        group by added.owner, added.thread_id, added.visibility
    ),

    -- a part that another transaction holds stays as it is: nobody waits, in whatever order threads are written
    placed as materialized (
        select counted.*, free.part
        from counted
        left join lateral (
            select figure.part
            from thread_figure as figure
            where
                figure.owner = counted.owner
                and figure.thread_id = counted.thread_id
                and figure.visibility = counted.visibility
            limit 1
            for no key update skip locked
        ) as free on true
    ),

    noted as (
        update thread_figure as figure
        set
            entries = figure.entries + placed.entries,
            from_users = figure.from_users + placed.from_users,
            multimodals = figure.multimodals + placed.multimodals,
            first_entry = least(figure.first_entry, placed.first_entry),
            last_entry = greatest(figure.last_entry, placed.last_entry),
            last_id = case
                when (figure.last_entry, figure.last_id) > (placed.last_entry, placed.last_id) then figure.last_id
                else placed.last_id
            end
        from placed
        where
            figure.owner = placed.owner
            and figure.thread_id = placed.thread_id
            and figure.visibility = placed.visibility
            and figure.part = placed.part
    )

    insert into thread_figure (
        owner, thread_id, visibility, entries, from_users, multimodals, first_entry, last_entry, last_id, is_exact
    )
    select
        owner, thread_id, visibility, entries, from_users, multimodals, first_entry, last_entry, last_id, true
    from placed
    where part is null;
    return null;
end;
$$;

comment on function count_added is
'Adds new entries to the figures of their threads, to whichever part of them no other transaction holds.';

create or replace trigger count_added
after insert on entry
referencing new table as added
for each statement execute function count_added();
