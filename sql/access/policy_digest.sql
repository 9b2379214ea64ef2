create or replace function policy_digest()
returns text
language plpgsql
stable
set search_path from current
as $$
begin
    return (
        select
            md5(
                string_agg(
                    concat_ws(
                        ' ', pg_class.relname, policy.polname, policy.polcmd, policy.polpermissive, policy.polroles,
                        pg_get_expr(policy.polqual, policy.polrelid),
                        pg_get_expr(policy.polwithcheck, policy.polrelid)
                    ),
                    e'\n' order by pg_class.relname, policy.polname
                )
            )
        from pg_catalog.pg_policy as policy
        inner join pg_catalog.pg_class on policy.polrelid = pg_class.oid
        where
            pg_class.oid in (
                'entry'::regclass, 'entry_grant'::regclass, 'entry_image'::regclass, 'chunk'::regclass,
                'chunk_embedding'::regclass
            )
            and policy.polname ~ ('^' || pg_class.relname || '_(read|insert|update|delete)$')
    );
end;
$$;

comment on function policy_digest is
'One value for all that our policies say; the installer keeps it in setting, and list_wall_faults() compares.';
