create or replace function unmap_login(p_login name)
returns boolean
language plpgsql
volatile
set search_path from current
as $$
begin
    if to_regrole(quote_ident(p_login)) is not null then
        execute format('revoke all on all tables in schema %I from %I', current_schema(), p_login);
        execute format('revoke all on all functions in schema %I from %I', current_schema(), p_login);
        execute format('revoke all on schema %I from %I', current_schema(), p_login);
    end if;
    delete from database_login where login = p_login;
    return found;
end;
$$;

comment on function unmap_login is
'Takes everything in this schema away from a database login, also one that is dropped already; false when it was not mapped. For the owner of the schema.';
