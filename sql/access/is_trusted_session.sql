create or replace function is_trusted_session()
returns boolean
language sql
stable
begin atomic
    select exists (
        select from pg_catalog.pg_roles
        where rolname = 'pgcontext_server' and pg_has_role(session_user, oid, 'member')
    )
    or exists (
        select from pg_catalog.pg_class
        where oid = 'entry'::regclass and pg_has_role(session_user, relowner, 'member')
    );
end;

comment on function is_trusted_session is
'Whether this login may name the principal it acts for: members of pgcontext_server, and of the role that owns the tables. Every other login is its own principal.';
