create or replace function report_principals()
returns table (
    principal text,
    entries bigint,
    public_entries bigint,
    threads bigint,
    text_bytes bigint,
    image_bytes bigint,
    grants_given bigint,
    grants_held bigint,
    first_entry timestamptz,
    last_entry timestamptz,
    last_change timestamptz
)
language sql
stable
security definer
set search_path from current
as $$
with stored as (
    select
        entry.owner as principal,
        count(*) as entries,
        count(*) filter (where entry.visibility = 'public') as public_entries,
        count(distinct entry.thread_id) as threads,
        sum(octet_length(entry.text_content))::bigint as text_bytes,
        min(entry.created_at) as first_entry,
        max(entry.created_at) as last_entry,
        max(entry.updated_at) as last_change
    from entry
    group by entry.owner
),

pictured as (
    select
        entry.owner as principal,
        sum(octet_length(entry_image.data))::bigint as image_bytes
    from entry_image
    inner join entry on entry.id = entry_image.entry_id
    group by entry.owner
),

given as (
    select
        entry_grant.owner as principal,
        count(*) as grants
    from entry_grant
    group by entry_grant.owner
),

held as (
    select
        entry_grant.principal_id as principal,
        count(*) as grants
    from entry_grant
    where entry_grant.principal_type = 'user'
    group by entry_grant.principal_id
),

everybody as (
    select stored.principal from stored
    union
    select held.principal from held
)

select
    everybody.principal,
    coalesce(stored.entries, 0),
    coalesce(stored.public_entries, 0),
    coalesce(stored.threads, 0),
    coalesce(stored.text_bytes, 0),
    coalesce(pictured.image_bytes, 0),
    coalesce(given.grants, 0),
    coalesce(held.grants, 0),
    stored.first_entry,
    stored.last_entry,
    stored.last_change
from everybody
left join stored on stored.principal = everybody.principal
left join pictured on pictured.principal = everybody.principal
left join given on given.principal = everybody.principal
left join held on held.principal = everybody.principal
order by coalesce(stored.entries, 0) desc, everybody.principal;
$$;

comment on function report_principals is
'Usage by principal: what each has stored, how much of it is public, and how many grants it gave and holds in its own name.';
