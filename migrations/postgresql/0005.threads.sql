-- What is counted of each thread, so that listing threads does not count entries.
-- depends: 0001.entries

-- Kept by triggers on entry. A thread has a row for every owner and visibility, which decide who counts it, and
-- more than one only where several transactions have written at once: what counts is its parts together, of which
-- one may well be below zero.
create table thread_figure (
    owner text collate "C" not null,
    thread_id text collate "C" not null,
    visibility text collate "C" not null,
    part uuid not null default gen_random_uuid(),
    entries bigint not null,
    from_users bigint not null,
    multimodals bigint not null,
    -- the first and the last of what was counted here, if anything was
    first_entry timestamptz,
    last_entry timestamptz,
    last_id uuid,
    -- false where the first or the last may be gone again, and has to be looked for
    is_exact boolean not null,
    primary key (owner, thread_id, visibility, part)
    -- room for the next state of a row on its page, which then is no work for the indexes
) with (fillfactor = 50);

create index thread_figure_public_idx on thread_figure (thread_id) where visibility = 'public';

-- nothing may be stored between this count and the first that the triggers count
lock table entry in share row exclusive mode;

insert into thread_figure (
    owner, thread_id, visibility, entries, from_users, multimodals, first_entry, last_entry, last_id, is_exact
)
select
    owner,
    thread_id,
    visibility,
    count(*) as entries,
    count(*) filter (where source = 'user') as from_users,
    count(*) filter (where content_type = 'multimodal') as multimodals,
    min(created_at) as first_entry,
    max(created_at) as last_entry,
    (array_agg(id order by created_at desc, id desc))[1] as last_id,
    true as is_exact
from entry
group by owner, thread_id, visibility;
