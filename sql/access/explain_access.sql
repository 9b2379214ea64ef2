create or replace function explain_access(p_entry_id uuid, p_principal text, p_groups text[] default '{}')
returns table (permission text, rule text, through text, granted_by text, since timestamptz)
language plpgsql
stable
set search_path from current
as $$
declare
    v_entry record;
begin
    select owner, visibility, created_at into v_entry from entry where id = p_entry_id;
    if not found then
        perform raise_error(
            'PC010', 'No such entry', jsonb_build_object('entry_id', entry_hex(p_entry_id))
        );
    end if;

    return query
    with rules as (
        select
            held.permission,
            'owner' as rule,
            v_entry.owner as through,
            null::text as granted_by,
            v_entry.created_at as since,
            held.place
        from (values (1, 'read'), (2, 'write'), (3, 'own')) as held (place, permission)
        where v_entry.owner = p_principal
        union all
        select 'read', 'public', null, null, null, 1
        where v_entry.visibility = 'public'
        union all
        select
            held.permission,
            'grant to ' || entry_grant.principal_type,
            entry_grant.principal_id,
            entry_grant.granted_by,
            entry_grant.created_at,
            held.place
        from entry_grant
        cross join (values (1, 'read'), (2, 'write')) as held (place, permission)
        where
            entry_grant.entry_id = p_entry_id
            and (entry_grant.permission = held.permission or entry_grant.permission = 'write')
            and (entry_grant.principal_type, entry_grant.principal_id) in (
                select 'user', p_principal
                union all
                select 'group', member.name from unnest(p_groups) as member (name)
            )
    )

    select distinct on (rules.place, rules.rule, rules.through)
        rules.permission,
        rules.rule,
        rules.through,
        rules.granted_by,
        rules.since
    from rules
    -- the anonymous principal writes nothing, whatever it is granted
    where rules.permission = 'read' or p_principal is distinct from setting_value('anonymous_principal')
    order by rules.place, rules.rule, rules.through, rules.since;
end;
$$;

comment on function explain_access is
'Why a principal with these groups may read, write or own an entry: one row for each permission and rule that gives it (owner, public, grant to user, grant to group), none where nothing does. For the owner of the schema. PC010: there is no such entry.';
