create or replace function current_readers()
returns text[]
language sql
stable
begin atomic
    select case
        when is_trusted_session()
            then coalesce(nullif(current_setting('pgcontext.readers', true), '')::text[], '{}')
        else reader_tokens(current_principal(), current_groups())
    end;
end;

comment on function current_readers is
'The rule of access: an entry is readable when its readers overlap these tokens, and changeable when its writers do. Empty, so nothing is readable, when there is no principal.';
