create or replace function find_repeated_entry(p_thread_id text, p_source text, p_text text)
returns uuid
language plpgsql
stable
security definer
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_own record;
    v_is_answered boolean;
begin
    select e.id, e.created_at, e.source = p_source and e.text_content = p_text as is_repeated
    into v_own
    from entry as e
    where e.owner = v_principal and e.thread_id = p_thread_id
    order by e.created_at desc, e.id desc
    limit 1;
    if v_own.is_repeated is not true then
        return null;
    end if;

    -- of what came later, each kind is looked up in an index that holds no entry that the caller may not read: what
    -- others keep to themselves in this thread must not cost any time either
    v_is_answered := exists (
        select
        from entry as e
        where
            e.visibility = 'public'
            and e.thread_id = p_thread_id
            and (e.created_at, e.id) > (v_own.created_at, v_own.id)
    );
    if not v_is_answered then
        execute format(
            'select exists (select from entry where entry.readers && %L::text[] and entry.thread_id = $1 '
            'and (entry.created_at, entry.id) > ($2, $3))',
            granted_tokens(v_principal, current_groups())
        )
        into v_is_answered
        using p_thread_id, v_own.created_at, v_own.id;
    end if;
    return case when not v_is_answered then v_own.id end;
end;
$$;

comment on function find_repeated_entry is
'The entry that a store of this text repeats: the latest readable one of the thread, if it has this source and this text and is the caller''s own; else null. Were an entry of the other source later, the text would be a new turn.';
