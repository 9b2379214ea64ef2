create or replace function report_corpora(p_stale_days integer default 30)
returns table (
    thread_id text,
    owner text,
    entries bigint,
    text_bytes bigint,
    first_entry timestamptz,
    last_change timestamptz,
    days_since_change integer,
    is_stale boolean
)
language sql
stable
security definer
set search_path from current
as $$
select
    entry.thread_id,
    entry.owner,
    count(*),
    sum(octet_length(entry.text_content))::bigint,
    min(entry.created_at),
    max(entry.updated_at) as last_change,
    (extract(epoch from now() - max(entry.updated_at)) / 86400)::integer,
    max(entry.updated_at) < now() - make_interval(days => p_stale_days)
from entry
where entry.metadata -> 'ingest' ->> 'scope' = entry.thread_id
group by entry.thread_id, entry.owner
order by last_change, entry.thread_id, entry.owner;
$$;

comment on function report_corpora is
'The corpora, that is the entries that a sync manages (metadata.ingest), the one that was left alone longest first; stale is one that nothing was changed in for so many days.';
