create or replace function current_principal()
returns text
language sql
stable
begin atomic
    select case
        when is_trusted_session() then nullif(current_setting('pgcontext.principal', true), '')
        -- a name is cut to 63 bytes wherever PostgreSQL takes it for one, so all of this must be text
        else session_user::text
    end;
end;

comment on function current_principal is
'Who this transaction acts for: what begin_request() said for a trusted login, else the login itself; null is nobody.';
