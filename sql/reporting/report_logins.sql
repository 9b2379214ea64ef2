create or replace function report_logins()
returns table (
    login text,
    principal text,
    groups text[],
    roles text[],
    exists_in_database boolean,
    entries bigint,
    connections bigint
)
language sql
stable
security definer
set search_path from current
as $$
select
    database_login.login,
    database_login.principal,
    database_login.groups,
    database_login.roles,
    exists (select from pg_catalog.pg_roles where pg_roles.rolname = database_login.login::name),
    (select count(*) from entry where entry.owner = database_login.principal),
    (
        select count(*)
        from pg_catalog.pg_stat_activity as activity
        where
            activity.usename = database_login.login::name
            and activity.datname = current_database()
    )
from database_login
order by database_login.login;
$$;

comment on function report_logins is
'The database logins of people: whom each stands for, and how many connections it holds now.';
