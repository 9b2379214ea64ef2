create or replace function may_write()
returns boolean
language sql
stable
begin atomic
    select
        current_principal() is not null
        and (current_principal() is distinct from setting_value('anonymous_principal'));
end;

comment on function may_write is 'Whether the current principal may write at all: the anonymous principal may not.';
