create or replace function report_threads(p_limit integer default 50)
returns table (
    thread_id text,
    entries bigint,
    principals bigint,
    public_entries bigint,
    text_bytes bigint,
    first_entry timestamptz,
    last_entry timestamptz,
    last_change timestamptz
)
language sql
stable
security definer
set search_path from current
as $$
select
    entry.thread_id,
    count(*),
    count(distinct entry.owner),
    count(*) filter (where entry.visibility = 'public'),
    sum(octet_length(entry.text_content))::bigint,
    min(entry.created_at),
    max(entry.created_at) as last_entry,
    max(entry.updated_at)
from entry
group by entry.thread_id
order by last_entry desc, entry.thread_id
limit p_limit;
$$;

comment on function report_threads is
'Thread activity: the threads with the latest entries, how many entries each has, of how many principals.';
