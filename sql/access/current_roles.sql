create or replace function current_roles()
returns text[]
language sql
stable
begin atomic
    select case
        when is_trusted_session()
            then coalesce(nullif(current_setting('pgcontext.roles', true), '')::text[], '{}')
        else coalesce((own_login()).roles, '{}')
    end;
end;

comment on function current_roles is
'The roles of the current principal, such as the one that publishing may take; not roles of PostgreSQL.';
