create or replace function report_faults()
returns table (severity text, area text, fault text, remedy text)
language sql
stable
security definer
set search_path from current
as $$
with home as (
    select
        pg_class.relnamespace as schema_id,
        pg_class.relowner as owner_id,
        pg_namespace.nspname as schema_name,
        pg_roles.rolname as owner_name,
        pg_roles.rolsuper as owner_is_superuser
    from pg_catalog.pg_class
    inner join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
    inner join pg_catalog.pg_roles on pg_roles.oid = pg_class.relowner
    where pg_class.oid = 'entry'::regclass
),

relations as (
    select pg_class.oid, pg_class.relname, pg_class.relkind, pg_class.relrowsecurity, pg_class.relacl
    from pg_catalog.pg_class
    inner join home on home.schema_id = pg_class.relnamespace
),

grantees as (
    select
        relations.relname,
        acl.privilege_type,
        coalesce(pg_roles.rolname, 'public') as grantee
    from relations
    cross join home
    cross join aclexplode(relations.relacl) as acl
    left join pg_catalog.pg_roles on pg_roles.oid = acl.grantee
    where acl.grantee <> home.owner_id
),

people as (
    select
        database_login.login,
        pg_roles.oid as role_id,
        pg_roles.rolsuper or pg_roles.rolbypassrls as is_unbound
    from database_login
    left join pg_catalog.pg_roles on pg_roles.rolname = database_login.login::name
),

settings as (
    select pg_settings.name, pg_settings.setting
    from pg_catalog.pg_settings
)

-- roles

select
    'note' as severity,
    'roles' as area,
    'role pgcontext_server does not exist, so the first wall stands alone' as fault,
    'run pgcontext migrate as a login that may create roles, with ENABLE_POSTGRESQL_RLS=true' as remedy
where to_regrole('pgcontext_server') is null
union all
select
    'error', 'roles',
    format('role %s is a superuser or has BYPASSRLS', pg_roles.rolname),
    format('alter role %I nosuperuser nobypassrls', pg_roles.rolname)
from pg_catalog.pg_roles
where
    pg_roles.rolname in ('pgcontext_server', 'pgcontext_reporter')
    and (pg_roles.rolsuper or pg_roles.rolbypassrls)
union all
select
    'error', 'roles',
    format('role %s may act as %s, the owner of the tables', pg_roles.rolname, home.owner_name),
    format('revoke %I from %I', home.owner_name, pg_roles.rolname)
from pg_catalog.pg_roles
cross join home
where
    pg_roles.rolname in ('pgcontext_server', 'pgcontext_reporter')
    and not pg_roles.rolsuper
    and may_act_as(pg_roles.rolname, home.owner_id)
union all
select
    'warning', 'roles',
    format('the tables belong to %s, a superuser, and so functions run as one', home.owner_name),
    'create a role for them, and give it the schema, its tables, views and functions (alter … owner to)'
from home
where home.owner_is_superuser
union all
select
    'error', 'roles',
    format('%s may create objects in schema %s', coalesce(pg_roles.rolname, 'public'), home.schema_name),
    format('revoke create on schema %I from %s', home.schema_name, coalesce(pg_roles.rolname, 'public'))
from home
inner join pg_catalog.pg_namespace on pg_namespace.oid = home.schema_id
cross join aclexplode(pg_namespace.nspacl) as acl
left join pg_catalog.pg_roles on pg_roles.oid = acl.grantee
where acl.privilege_type = 'CREATE' and acl.grantee not in (home.owner_id, pg_namespace.nspowner)

-- policies

union all
select
    'error', 'policies',
    format('row-level security is switched off on table %s', relations.relname),
    format('alter table %I.%I enable row level security', home.schema_name, relations.relname)
from relations
cross join home
where relations.relkind in ('r', 'p') and not relations.relrowsecurity
union all
select
    'error', 'policies',
    'the policies are not the ones that were installed',
    'run pgcontext migrate, and find out who changed them'
where policy_digest() is distinct from setting_value('policy_digest')
union all
select
    'error', 'policies',
    format('%s may %s on %s', grantees.grantee, lower(grantees.privilege_type), grantees.relname),
    format('revoke %s on %I from %s', lower(grantees.privilege_type), grantees.relname, grantees.grantee)
from grantees
where
    grantees.privilege_type in ('TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN')
    or (grantees.grantee = 'public')
union all
select
    'error', 'policies',
    format('%s may read column %s of table entry', pg_roles.rolname, hidden.name),
    format('revoke select on entry from %I; then call map_login() or run pgcontext migrate', pg_roles.rolname)
from pg_catalog.pg_roles
cross join home
cross join (values ('owner'), ('readers'), ('writers')) as hidden (name)
where
    has_column_privilege(pg_roles.oid, 'entry'::regclass, hidden.name, 'select')
    and pg_roles.rolname not in ('pg_read_all_data', 'pg_write_all_data')
    and not pg_roles.rolsuper
    and not pg_has_role(pg_roles.oid, home.owner_id, 'member')
union all
select
    'error', 'policies',
    format('everybody may call function %s', pg_proc.proname),
    'run pgcontext migrate'
from pg_catalog.pg_proc
inner join home on home.schema_id = pg_proc.pronamespace
where has_function_privilege('public', pg_proc.oid, 'execute')

-- logins of people

union all
select
    'warning', 'logins',
    format('login %s is mapped to a principal, but does not exist', people.login),
    format('select unmap_login(%L), before somebody else gets this name', people.login)
from people
where people.role_id is null
union all
select
    'error', 'logins',
    format('login %s is mapped to one principal, but may read and act as any', people.login),
    'take from it superuser, bypassrls and its membership of pgcontext_server or of the owner'
from people
cross join home
where
    case
        when people.role_id is not null
            then people.is_unbound
            or may_act_as(people.login::name, home.owner_id)
            or may_act_as(people.login::name, to_regrole('pgcontext_server')::oid)
    end

-- indexes

union all
select
    'error', 'indexes',
    format('index %s is invalid', report_indexes.index_name),
    format('reindex index concurrently %I', report_indexes.index_name)
from report_indexes()
where not report_indexes.is_valid
union all
select
    'warning', 'indexes',
    format('index %s is a duplicate of %s', report_indexes.index_name, report_indexes.duplicate_of),
    format('drop index concurrently %I', report_indexes.index_name)
from report_indexes()
where report_indexes.duplicate_of is not null
union all
select
    'warning', 'indexes',
    format('index %s may be bloated to %s %%', report_indexes.index_name, report_indexes.bloat_percent),
    format('reindex index concurrently %I', report_indexes.index_name)
from report_indexes()
where report_indexes.bloat_percent >= 60

-- the server

union all
select
    'error', 'server',
    format('default_transaction_isolation is %s, and no server can write', settings.setting),
    'set it to read committed for the server''s login or the database'
from settings
where settings.name = 'default_transaction_isolation' and settings.setting <> 'read committed'
union all
select
    'error', 'server',
    format('the database is encoded in %s', settings.setting),
    'create it anew with encoding UTF8'
from settings
where settings.name = 'server_encoding' and settings.setting <> 'UTF8'
union all
select
    'warning', 'server',
    'autovacuum is off, so plans grow stale and tables grow',
    'alter system set autovacuum = on'
from settings
where settings.name = 'autovacuum' and settings.setting = 'off'
union all
select
    'warning', 'server',
    'pg_stats_ext_exprs shows any login the commonest values of indexed metadata (CVE-2024-4317)',
    'run fix-CVE-2024-4317.sql from PostgreSQL''s share folder as a superuser in every database'
where
    has_table_privilege('public', 'pg_catalog.pg_stats_ext_exprs', 'select')
    and position('relowner' in pg_get_viewdef('pg_catalog.pg_stats_ext_exprs'::regclass)) = 0
union all
select
    'note', 'extensions',
    'pg_stat_statements is not installed, so report_calls() has nothing to tell',
    'add it to shared_preload_libraries, restart, and create extension pg_stat_statements'
where not exists (select from pg_catalog.pg_extension where pg_extension.extname = 'pg_stat_statements');
$$;

comment on function report_faults is
'What is wrong with this installation and how to mend it; no row with severity error or warning when all is well. pgcontext doctor shows it beside what can only be seen from outside.';
