-- Entries, their tags, images and grants. Times are microseconds since 1970-01-01T00:00:00Z.
-- depends:

create table entry (
    row_id integer primary key,
    id text not null unique check (length(id) = 32),
    thread_id text not null check (thread_id <> ''),
    source text not null check (source in ('user', 'agent')),
    content_type text not null check (content_type in ('text', 'multimodal')),
    metadata text not null check (json_type(metadata) = 'object'),
    content_hash text not null,
    version integer not null,
    owner text not null check (owner <> ''),
    visibility text not null check (visibility in ('private', 'public')),
    created_at integer not null,
    updated_at integer not null
) strict;

-- The long parts of an entry are apart, so that a filter does not read past them, nor a change of tags rewrite
-- them.
create table entry_text (
    row_id integer primary key references entry (row_id) on delete cascade,
    summary text,
    text_content text not null check (text_content <> '')
) strict;

-- The indexes carry what the rule of access asks, and the second one what list_threads() counts.
create index entry_created_idx on entry (created_at desc, id desc, visibility, owner);
create index entry_thread_idx on entry (
    thread_id, created_at desc, id desc, visibility, owner, source, content_type
);

create table entry_tag (
    entry_id text not null references entry (id) on delete cascade,
    tag text not null check (tag <> ''),
    primary key (entry_id, tag)
) strict, without rowid;

create index entry_tag_idx on entry_tag (tag);

create table entry_grant (
    entry_id text not null references entry (id) on delete cascade,
    principal_type text not null check (principal_type in ('user', 'group')),
    principal_id text not null check (principal_id <> ''),
    permission text not null check (permission in ('read', 'write')),
    granted_by text not null,
    created_at integer not null,
    primary key (entry_id, principal_type, principal_id, permission)
) strict, without rowid;

create table entry_image (
    entry_id text not null references entry (id) on delete cascade,
    position integer not null check (position >= 0),
    mime_type text not null,
    metadata text,
    data blob not null,
    primary key (entry_id, position)
) strict;
