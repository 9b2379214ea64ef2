create or replace view tag_overview
with (security_invoker = true, security_barrier = true) as
select
    tag.name as tag,
    count(*) as entries,
    max(entry.created_at) as last_entry
from entry
cross join unnest(entry.tags) as tag (name)
group by tag.name;

comment on view tag_overview is 'The tags of the entries that you may read, and how many carry each.';
