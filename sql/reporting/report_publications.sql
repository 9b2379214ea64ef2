create or replace function report_publications()
returns table (
    owner text,
    thread_id text,
    public_entries bigint,
    text_bytes bigint,
    latest_entry timestamptz,
    latest_change timestamptz
)
language sql
stable
security definer
set search_path from current
as $$
select
    entry.owner,
    entry.thread_id,
    count(*),
    sum(octet_length(entry.text_content))::bigint,
    max(entry.created_at) as latest_entry,
    max(entry.updated_at)
from entry
where entry.visibility = 'public'
group by entry.owner, entry.thread_id
order by latest_entry desc, entry.owner, entry.thread_id;
$$;

comment on function report_publications is
'What everybody may read, and whose it is; only its owner can have published an entry.';
