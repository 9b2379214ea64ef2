create or replace function report_growth(p_weeks integer default 12)
returns table (
    week date,
    new_entries bigint,
    total_entries bigint,
    new_text_bytes bigint,
    total_text_bytes bigint
)
language sql
stable
security definer
set search_path from current
as $$
with weekly as (
    select
        date_trunc('week', entry.created_at at time zone 'UTC')::date as week,
        count(*) as entries,
        sum(octet_length(entry.text_content))::bigint as text_bytes
    from entry
    group by 1
),

weeks as (
    select (date_trunc('week', now() at time zone 'UTC')::date - 7 * ago.weeks) as week
    from generate_series(0, p_weeks - 1) as ago (weeks)
)

select
    weeks.week,
    coalesce(sum(weekly.entries) filter (where weekly.week = weeks.week), 0)::bigint,
    coalesce(sum(weekly.entries), 0)::bigint,
    coalesce(sum(weekly.text_bytes) filter (where weekly.week = weeks.week), 0)::bigint,
    coalesce(sum(weekly.text_bytes), 0)::bigint
from weeks
left join weekly on weekly.week <= weeks.week
group by weeks.week
order by weeks.week desc;
$$;

comment on function report_growth is
'Growth by week (from Monday, UTC), the latest first: what came in each week, and what had come by its end, of all that is still there.';
