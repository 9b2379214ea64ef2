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
    ),

    our_policies (name) as (
        values
        ('entry_read'), ('entry_insert'), ('entry_update'), ('entry_delete'),
        ('entry_grant_read'), ('entry_grant_insert'), ('entry_grant_delete'),
        ('entry_image_read'), ('entry_image_insert'), ('entry_image_delete')
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
    where not row_security_active(oid)
    union all
    select format('policy %s on table %s is not one of ours', policy.polname, protected.relname)
    from pg_catalog.pg_policy as policy
    inner join protected on protected.oid = policy.polrelid
    where
        policy.polpermissive
        and policy.polname not in (select name from our_policies)
        and exists (
            select from unnest(policy.polroles) as role (oid)
            where role.oid = 0 or pg_has_role(current_user, role.oid, 'usage')
        )
    union all
    select format('role %s may read column %s of table entry', current_user, hidden.name)
    from (values ('owner'), ('readers'), ('writers')) as hidden (name)
    where has_column_privilege(current_user, 'entry'::regclass, hidden.name, 'select');
end;

comment on function list_wall_faults is
'Why the policies would not bind the current role, or would let it see more than they should; no row when all is well.';
