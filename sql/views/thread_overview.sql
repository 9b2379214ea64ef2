create or replace view thread_overview
with (security_invoker = true, security_barrier = true) as
select
    entry.thread_id,
    count(*) as entries,
    count(*) filter (where entry.source = 'user') as from_users,
    count(*) filter (where entry.visibility = 'public') as public_entries,
    min(entry.created_at) as first_entry,
    max(entry.created_at) as last_entry
from entry
group by entry.thread_id;

comment on view thread_overview is 'The threads with entries that you may read, in figures over those entries.';
