create or replace function current_principal()
returns text
language sql
stable
begin atomic
    select case
        when is_trusted_session() then nullif(current_setting('pgcontext.principal', true), '')
        -- a name is cut to 63 bytes wherever PostgreSQL takes it for one, so all of this must be text
        else coalesce((own_login()).principal, session_user::text)
    end;
end;

comment on function current_principal is
'Who this transaction acts for: what begin_request() said for a trusted login; for any other the principal that map_login() gave it, or else its own name; null is nobody.';
