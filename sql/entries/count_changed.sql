create or replace function count_changed()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_added thread_figure[];
    v_removed thread_figure[];
begin
    if tg_op = 'UPDATE' then
        v_added := array(
            select
                row(
                    added.owner, added.thread_id, added.visibility, null,
                    count(*),
                    count(*) filter (where added.source = 'user'),
                    count(*) filter (where added.content_type = 'multimodal'),
                    min(added.created_at),
                    max(added.created_at),
                    (array_agg(added.id order by added.created_at desc, added.id desc))[1],
                    true
                )::thread_figure
            from added
            group by added.owner, added.thread_id, added.visibility
        );
    end if;
    v_removed := array(
        select
            row(
                removed.owner, removed.thread_id, removed.visibility, null,
                count(*),
                count(*) filter (where removed.source = 'user'),
                count(*) filter (where removed.content_type = 'multimodal'),
                min(removed.created_at),
                max(removed.created_at),
                (array_agg(removed.id order by removed.created_at desc, removed.id desc))[1],
                true
            )::thread_figure
        from removed
        group by removed.owner, removed.thread_id, removed.visibility
    );
    -- nearly every change is one of texts, tags or metadata, which are not counted
    if v_added is distinct from v_removed then
        perform change_figure(more, less)
        from unnest(v_added) as more
        full join unnest(v_removed) as less
            on more.owner = less.owner and more.thread_id = less.thread_id and more.visibility = less.visibility
        where more is distinct from less;
    end if;
    return null;
end;
$$;

comment on function count_changed is
'Carries changed and deleted entries over to the figures of their threads.';

create or replace trigger count_changed
after update on entry
referencing old table as removed new table as added
for each statement execute function count_changed();

create or replace trigger count_removed
after delete on entry
referencing old table as removed
for each statement execute function count_changed();
