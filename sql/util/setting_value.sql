create or replace function setting_value(p_name text)
returns text
language sql
stable
begin atomic
    select value from setting where name = p_name;
end;

comment on function setting_value is
'What the operator decided for this deployment under that name (publish_role, default_visibility, ...), or null.';
