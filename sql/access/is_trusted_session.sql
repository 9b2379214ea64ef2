create or replace function is_trusted_session()
returns boolean
language sql
stable
begin atomic
    select
        coalesce(may_act_as(session_user, to_regrole('pgcontext_server')::oid), false)
        or (
            select may_act_as(session_user, pg_class.relowner)
            from pg_catalog.pg_class
            where pg_class.oid = 'entry'::regclass
        );
end;

comment on function is_trusted_session is
'Whether this login may name the principal it acts for: those that may act as pgcontext_server or as the owner of the tables. Every other login is one principal; see own_login().';
