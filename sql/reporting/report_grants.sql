create or replace function report_grants()
returns table (
    principal_type text,
    principal_id text,
    permission text,
    owner text,
    entries bigint,
    threads bigint,
    latest_grant timestamptz
)
language sql
stable
security definer
set search_path from current
as $$
select
    entry_grant.principal_type,
    entry_grant.principal_id,
    entry_grant.permission,
    entry_grant.owner,
    count(*),
    count(distinct entry.thread_id),
    max(entry_grant.created_at)
from entry_grant
inner join entry on entry.id = entry_grant.entry_id
group by entry_grant.principal_type, entry_grant.principal_id, entry_grant.permission, entry_grant.owner
order by entry_grant.principal_type, entry_grant.principal_id, entry_grant.permission, entry_grant.owner;
$$;

comment on function report_grants is
'Who was granted what by whom: one row for each grantee, permission and owner.';
