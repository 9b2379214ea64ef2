create or replace function change_figure(p_added thread_figure, p_removed thread_figure)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_owner constant text := coalesce(p_added.owner, p_removed.owner);
    v_thread_id constant text := coalesce(p_added.thread_id, p_removed.thread_id);
    v_visibility constant text := coalesce(p_added.visibility, p_removed.visibility);
    v_free thread_figure[];
    v_figure thread_figure;
begin
    -- a part that another transaction holds stays as it is: nobody waits, in whatever order threads are written
    v_free := array(
        select figure
        from thread_figure as figure
        where figure.owner = v_owner and figure.thread_id = v_thread_id and figure.visibility = v_visibility
        for no key update skip locked
    );
    select
        v_owner,
        v_thread_id,
        v_visibility,
        coalesce(v_free[1].part, gen_random_uuid()),
        coalesce(sum(part.entries), 0) - coalesce(p_removed.entries, 0),
        coalesce(sum(part.from_users), 0) - coalesce(p_removed.from_users, 0),
        coalesce(sum(part.multimodals), 0) - coalesce(p_removed.multimodals, 0),
        min(part.first_entry),
        max(part.last_entry),
        (array_agg(part.last_id order by part.last_entry desc nulls last, part.last_id desc))[1],
        coalesce(bool_and(part.is_exact), true)
    into v_figure
    from unnest(v_free || p_added) as part;
    if p_removed.entries > 0 or not v_figure.is_exact then
        v_figure := find_ends(v_figure, p_removed, cardinality(v_free));
    end if;

    if v_figure.entries = 0 and v_figure.from_users = 0 and v_figure.multimodals = 0 and v_figure.is_exact then
        v_figure.part := null;
    elsif cardinality(v_free) = 0 then
        insert into thread_figure select v_figure.*;
    else
        update thread_figure as figure
        set
            entries = v_figure.entries,
            from_users = v_figure.from_users,
            multimodals = v_figure.multimodals,
            first_entry = v_figure.first_entry,
            last_entry = v_figure.last_entry,
            last_id = v_figure.last_id,
            is_exact = v_figure.is_exact
        where
            figure.owner = v_owner
            and figure.thread_id = v_thread_id
            and figure.visibility = v_visibility
            and figure.part = v_figure.part;
    end if;
    if cardinality(v_free) > 1 or v_figure.part is null then
        delete from thread_figure as figure
        where
            figure.owner = v_owner
            and figure.thread_id = v_thread_id
            and figure.visibility = v_visibility
            and figure.part in (select part.part from unnest(v_free) as part)
            and figure.part is distinct from v_figure.part;
    end if;
end;
$$;

comment on function change_figure is
'Adds and subtracts what a statement has added to one thread, owner and visibility and removed from it. Puts together the parts that no other transaction holds, or begins a new one.';
