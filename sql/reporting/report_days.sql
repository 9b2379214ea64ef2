create or replace function report_days(p_days integer default 30)
returns table (
    day date,
    new_entries bigint,
    from_users bigint,
    from_agents bigint,
    principals bigint,
    threads bigint,
    text_bytes bigint,
    new_grants bigint
)
language sql
stable
security definer
set search_path from current
as $$
with days as (
    select ((now() at time zone 'UTC')::date - ago.days) as day
    from generate_series(0, p_days - 1) as ago (days)
),

stored as (
    select
        (entry.created_at at time zone 'UTC')::date as day,
        count(*) as entries,
        count(*) filter (where entry.source = 'user') as from_users,
        count(distinct entry.owner) as principals,
        count(distinct entry.thread_id) as threads,
        sum(octet_length(entry.text_content))::bigint as text_bytes
    from entry
    where entry.created_at >= now() - make_interval(days => p_days + 1)
    group by 1
),

granted as (
    select
        (entry_grant.created_at at time zone 'UTC')::date as day,
        count(*) as grants
    from entry_grant
    where entry_grant.created_at >= now() - make_interval(days => p_days + 1)
    group by 1
)

select
    days.day,
    coalesce(stored.entries, 0),
    coalesce(stored.from_users, 0),
    coalesce(stored.entries - stored.from_users, 0),
    coalesce(stored.principals, 0),
    coalesce(stored.threads, 0),
    coalesce(stored.text_bytes, 0),
    coalesce(granted.grants, 0)
from days
left join stored on stored.day = days.day
left join granted on granted.day = days.day
order by days.day desc;
$$;

comment on function report_days is
'Usage by day (UTC), the latest first and quiet days included: entries and grants that are still there, by the day on which they came.';
