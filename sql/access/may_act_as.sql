create or replace function may_act_as(p_login name, p_role oid)
returns boolean
language sql
stable
return case
    -- before PostgreSQL 16 every member may take the role on; since then some may only administer it
    when current_setting('server_version_num')::integer < 160000 then pg_has_role(p_login, p_role, 'member')
    else pg_has_role(p_login, p_role, 'set') or pg_has_role(p_login, p_role, 'usage')
end;

comment on function may_act_as is
'Whether a login has the rights of a role or may take it on; being allowed to grant it to others is not enough.';
