create or replace function may_publish()
returns boolean
language sql
stable
begin atomic
    select
        setting_value('publish_role') is null
        or (setting_value('publish_role') = any(current_roles())) is true;
end;

comment on function may_publish is
'Whether the current principal may make an entry public: always, unless the deployment names a publish role it lacks.';
