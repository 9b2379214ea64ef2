create or replace function resolve_prefixes(p_prefixes text[])
returns table (prefix text, entry_id uuid, is_ambiguous boolean)
language plpgsql
stable
rows 10
security definer
set search_path from current
as $$
declare
    v_ids uuid[];
begin
    foreach prefix in array p_prefixes loop
        -- written out, so that the planner sees how wide the prefix is and how much the caller may read, and does not
        -- pass by what others have stored in the same minute
        execute format(
            'select array(select entry.id from entry where %s and entry.id between %L and %L limit 2)',
            readable_condition(), rpad(prefix, 32, '0')::uuid, rpad(prefix, 32, 'f')::uuid
        ) into v_ids;
        is_ambiguous := cardinality(v_ids) > 1;
        entry_id := case when not is_ambiguous then v_ids[1] end;
        return next;
    end loop;
end;
$$;

comment on function resolve_prefixes is
'What each prefix of an id (8 to 31 hex digits) stands for among the entries that the current principal may read: one entry, none, or several.';
