create or replace function current_groups()
returns text[]
language sql
stable
begin atomic
    select case
        when is_trusted_session()
            then coalesce(nullif(current_setting('pgcontext.groups', true), '')::text[], '{}')
        else coalesce((own_login()).groups, '{}')
    end;
end;

comment on function current_groups is 'The groups of the current principal.';
