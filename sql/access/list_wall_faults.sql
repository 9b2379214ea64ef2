create or replace function list_wall_faults()
returns table (fault text)
language sql
stable
begin atomic
    with me as (
        select rolname, rolsuper, rolbypassrls
        from pg_catalog.pg_roles
        where rolname = current_user
    ),

    protected as (
        select oid, relname, relowner
        from pg_catalog.pg_class
        where oid in ('entry'::regclass, 'entry_grant'::regclass, 'entry_image'::regclass)
    )

    select format('role %s is a superuser', rolname) from me
    where rolsuper
    union all
    select format('role %s has BYPASSRLS', rolname) from me
    where rolbypassrls
    union all
    select format('role %s owns table %s', current_user, relname) from protected
    where pg_has_role(current_user, relowner, 'usage')
    union all
    select format('row-level security is not active on table %s', relname) from protected
    where not row_security_active(oid);
end;

comment on function list_wall_faults is
'Why the policies would not bind the current role; no row when they do.';
