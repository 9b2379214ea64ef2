create or replace function report_readable(p_principal text, p_groups text[] default '{}')
returns table (
    thread_id text,
    entries bigint,
    own bigint,
    granted bigint,
    writable bigint,
    public_entries bigint,
    last_entry timestamptz
)
language sql
stable
security definer
set search_path from current
as $$
select
    entry.thread_id,
    count(*),
    count(*) filter (where entry.owner = p_principal),
    count(*) filter (where entry.readers && granted_tokens(p_principal, p_groups)),
    count(*) filter (where entry.writers && reader_tokens(p_principal, p_groups)),
    count(*) filter (where entry.visibility = 'public'),
    max(entry.created_at) as last_entry
from entry
where entry.readers && reader_tokens(p_principal, p_groups)
group by entry.thread_id
order by last_entry desc, entry.thread_id;
$$;

comment on function report_readable is
'What a principal with these groups may read, by thread and by reason; an entry can have several.';
