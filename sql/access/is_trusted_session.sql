create or replace function is_trusted_session()
returns boolean
language sql
stable
begin atomic
    select
        coalesce(pg_has_role(session_user, to_regrole('pgcontext_server')::oid, 'member'), false)
        or (
            select pg_has_role(session_user, pg_class.relowner, 'member')
            from pg_catalog.pg_class
            where pg_class.oid = 'entry'::regclass
        );
end;

comment on function is_trusted_session is
'Whether this login may name the principal it acts for: members of pgcontext_server, and of the role that owns the tables. Every other login is its own principal.';
