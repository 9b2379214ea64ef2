create or replace function find_repeated_entry(p_thread_id text, p_source text, p_text text)
returns uuid
language plpgsql
stable
security definer
set search_path from current
as $$
declare
    v_latest record;
begin
    select e.id, e.created_at, e.is_owner and e.text_content = p_text as is_repeated
    into v_latest
    from readable_entry as e
    where e.thread_id = p_thread_id and e.source = p_source
    order by e.created_at desc, e.id desc
    limit 1;

    if not v_latest.is_repeated or exists (
        select
        from readable_entry as answer
        where
            answer.thread_id = p_thread_id
            and answer.source <> p_source
            and (answer.created_at, answer.id) > (v_latest.created_at, v_latest.id)
    ) then
        return null;
    end if;
    return v_latest.id;
end;
$$;

comment on function find_repeated_entry is
'The entry that a store of this text repeats: the latest readable one of thread and source, if it is the caller''s own, its text is identical, and nobody of the other source has answered it since; else null.';
