create or replace function find_ends(p_figure thread_figure, p_removed thread_figure, p_parts integer)
returns thread_figure
language plpgsql
volatile
set search_path from current
as $$
declare
    v_parts constant bigint := (
        select count(*)
        from thread_figure as figure
        where
            figure.owner = p_figure.owner
            and figure.thread_id = p_figure.thread_id
            and figure.visibility = p_figure.visibility
    );
begin
    if v_parts > p_parts then
        p_figure.is_exact := false;
    elsif
        not p_figure.is_exact
        or (
            p_removed.first_entry > p_figure.first_entry and p_removed.last_entry < p_figure.last_entry
        ) is not true
    then
        -- what is not yet committed is counted in a part that its transaction holds, or will be
        select e.created_at
        into p_figure.first_entry
        from entry as e
        where
            e.owner = p_figure.owner
            and e.thread_id = p_figure.thread_id
            and e.visibility = p_figure.visibility
        order by e.created_at, e.id
        limit 1;
        select e.created_at, e.id
        into p_figure.last_entry, p_figure.last_id
        from entry as e
        where
            e.owner = p_figure.owner
            and e.thread_id = p_figure.thread_id
            and e.visibility = p_figure.visibility
        order by e.created_at desc, e.id desc
        limit 1;
        p_figure.is_exact := true;
    end if;
    return p_figure;
end;
$$;

comment on function find_ends is
'A figure with its first and its last entry put right after p_removed has gone. Where other transactions hold parts of it, so that there are more than p_parts, it says that they are not exact.';
