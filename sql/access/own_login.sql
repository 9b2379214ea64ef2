create or replace function own_login()
returns database_login
language sql
stable
security definer
set search_path from current
begin atomic
    select database_login.*
    from database_login
    where database_login.login = session_user::text;
end;

comment on function own_login is
'Whom map_login() says that the login of this session stands for; null when it says nothing. Nobody sees another login''s.';
