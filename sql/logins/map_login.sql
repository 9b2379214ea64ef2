create or replace function map_login(
    p_login name, p_principal text, p_groups text[] default '{}', p_roles text[] default '{}'
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_login constant oid := to_regrole(quote_ident(p_login));
    v_owner oid;
begin
    if v_login is null then
        perform raise_error(
            'PC090', format('There is no login %s', p_login), jsonb_build_object('login', p_login),
            'Create it first: create role … login'
        );
    end if;
    select relowner into v_owner from pg_catalog.pg_class where oid = 'entry'::regclass;
    if
        may_act_as(p_login, v_owner)
        or may_act_as(p_login, to_regrole('pgcontext_server')::oid)
        or (select rolbypassrls from pg_catalog.pg_roles where oid = v_login)
    then
        perform raise_error(
            'PC091', format('Login %s may read or act as any principal already', p_login),
            jsonb_build_object('login', p_login),
            'Give people logins without superuser, bypassrls, and membership of pgcontext_server or of the owner.'
        );
    end if;
    insert into database_login (login, principal, groups, roles)
    values (p_login, p_principal, p_groups, p_roles)
    on conflict (login) do update
    set principal = excluded.principal, groups = excluded.groups, roles = excluded.roles;
    perform grant_person(p_login);
end;
$$;

comment on function map_login is
'Says which principal, with which groups and roles, a database login stands for from its next statement on, and grants it what a person needs. For the owner of the schema. PC090: there is no such login; PC091: it may read or act as anybody already.';
