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
    select e.id, e.source = p_source and e.owner = current_principal() and e.text_content = p_text as is_repeated
    into v_latest
    from readable_entries() as e
    where e.thread_id = p_thread_id
    order by e.created_at desc, e.id desc
    limit 1;
    return case when v_latest.is_repeated then v_latest.id end;
end;
$$;

comment on function find_repeated_entry is
'The entry that a store of this text repeats: the latest readable one of the thread, if it has this source and this text and is the caller''s own; else null. Were an entry of the other source later, the text would be a new turn.';
