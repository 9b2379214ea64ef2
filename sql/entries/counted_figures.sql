create or replace function counted_figures()
returns table (
    owner text,
    thread_id text,
    visibility text,
    entries bigint,
    from_users bigint,
    multimodals bigint,
    first_entry timestamptz,
    last_entry timestamptz,
    last_id uuid
)
language sql
stable
begin atomic
    select
        entry.owner,
        entry.thread_id,
        entry.visibility,
        count(*) as entries,
        count(*) filter (where entry.source = 'user') as from_users,
        count(*) filter (where entry.content_type = 'multimodal') as multimodals,
        min(entry.created_at) as first_entry,
        max(entry.created_at) as last_entry,
        (array_agg(entry.id order by entry.created_at desc, entry.id desc))[1] as last_id
    from entry
    group by entry.owner, entry.thread_id, entry.visibility;
end;

comment on function counted_figures is
'For the owner of the tables: what thread_figure has to say, counted entry by entry.';
