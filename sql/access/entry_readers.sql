create or replace function entry_readers(p_entry_id uuid, p_owner text, p_visibility text)
returns text[]
language sql
stable
begin atomic
    select
        case when p_visibility = 'public' then array['*'] else '{}'::text[] end
        || array['owner:' || p_owner]
        || array(
            select distinct principal_type || ':' || principal_id from entry_grant where entry_id = p_entry_id
        );
end;

comment on function entry_readers is 'Who may read an entry: everyone if public, its owner, and every grantee.';
