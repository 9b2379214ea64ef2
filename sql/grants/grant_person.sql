create or replace function grant_person(p_login name)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    perform grant_server(p_login);
    -- it would have no effect, and somebody might think that it had
    execute format('revoke execute on function begin_request from %I', p_login);
end;
$$;

comment on function grant_person is
'Grants the database login of a person what the server''s role has, but for speaking in the name of others.';
