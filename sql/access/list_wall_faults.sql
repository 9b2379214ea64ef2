create or replace function list_wall_faults()
returns table (fault text)
language sql
stable
begin atomic
    with me as (
        select pg_roles.rolname, pg_roles.rolsuper, pg_roles.rolbypassrls
        from pg_catalog.pg_roles
        where pg_roles.rolname = current_user
    ),

    protected as (
        select pg_class.oid, pg_class.relname, pg_class.relowner
        from pg_catalog.pg_class
        where pg_class.oid in (
            'entry'::regclass, 'entry_grant'::regclass, 'entry_image'::regclass, 'chunk'::regclass,
            'chunk_embedding'::regclass
        )
    ),

    foreign_policies as (
        select policy.polname, protected.relname, unnest(policy.polroles) as role_id
        from protected
        inner join pg_catalog.pg_policy as policy on protected.oid = policy.polrelid
        where
            policy.polpermissive
            and policy.polname !~ ('^' || protected.relname || '_(read|insert|update|delete)$')
    )

    select format('role %s is a superuser', me.rolname)
    from me
    where me.rolsuper
    union all
    select format('role %s has BYPASSRLS', me.rolname)
    from me
    where me.rolbypassrls
    union all
    select format('role %s may act as the owner of table %s', current_user, protected.relname)
    from protected
    where pg_has_role(current_user, protected.relowner, 'member')
    union all
    select format('row-level security is not active on table %s', protected.relname)
    from protected
    where not row_security_active(protected.oid)
    union all
    select 'the policies are not the ones that were installed; run pgcontext migrate'
    where policy_digest() is distinct from setting_value('policy_digest')
    union all
    select format('policy %s on table %s is not one of ours', foreign_policies.polname, foreign_policies.relname)
    from foreign_policies
    where
        foreign_policies.role_id = 0
        or pg_has_role(current_user, nullif(foreign_policies.role_id, 0), 'usage')
    union all
    select format('role %s may read column %s of table entry', current_user, hidden.name)
    from (values ('owner'), ('readers'), ('writers')) as hidden (name)
    where has_column_privilege(current_user, 'entry'::regclass, hidden.name, 'select');
end;

comment on function list_wall_faults is
'Why the policies would not bind the current role, or would let it see more than they should; no row when all is well.';
