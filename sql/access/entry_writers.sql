create or replace function entry_writers(p_entry_id uuid, p_owner text)
returns text[]
language sql
stable
begin atomic
    select
        array['owner:' || p_owner]
        || array(
            select principal_type || ':' || principal_id
            from entry_grant
            where entry_id = p_entry_id and permission = 'write'
        );
end;

comment on function entry_writers is 'Who may change an entry: its owner and the holders of a write grant.';
