-- Entries, their images and grants, and what the operator decides for the whole deployment.
-- depends:

-- Columns stand in the order in which rows are cheapest to read: fixed widths first, the text last.
create table entry (
    id uuid primary key,
    -- as far as the calendars of other programs reach
    created_at timestamptz not null
    check (created_at between '0001-01-01T00:00Z' and '9999-12-31T23:59:59.999999Z'),
    updated_at timestamptz not null
    check (updated_at between '0001-01-01T00:00Z' and '9999-12-31T23:59:59.999999Z'),
    version bigint not null,
    thread_id text collate "C" not null check (thread_id <> ''),
    source text collate "C" not null check (source in ('user', 'agent')),
    content_type text collate "C" not null check (content_type in ('text', 'multimodal')),
    visibility text collate "C" not null check (visibility in ('private', 'public')),
    owner text collate "C" not null check (owner <> ''),
    -- who may read and who may change the entry, derived from owner, visibility and grants by derive_entry()
    -- and derive_entry_access(): '*' for everyone, and 'owner:', 'user:' or 'group:' before an id
    readers text[] collate "C" not null,
    writers text[] collate "C" not null,
    tags text[] collate "C" not null check (array_position(tags, null) is null),
    content_hash text not null,
    metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
    summary text,
    text_content text not null check (text_content <> '')
);

create index entry_thread_idx on entry (thread_id, created_at desc, id desc);
create index entry_created_idx on entry (created_at desc, id desc);
-- these two carry all that counting threads needs, so that it reads no row
create index entry_owner_idx on entry (owner, thread_id, created_at desc, id desc)
include (source, content_type);
create index entry_public_idx on entry (thread_id, created_at desc, id desc)
include (source, content_type, owner) where visibility = 'public';
create index entry_tags_idx on entry using gin (tags);
create index entry_readers_idx on entry using gin (readers);

create table entry_grant (
    entry_id uuid not null references entry (id) on delete cascade,
    principal_type text collate "C" not null check (principal_type in ('user', 'group')),
    principal_id text collate "C" not null check (principal_id <> ''),
    permission text collate "C" not null check (permission in ('read', 'write')),
    granted_by text collate "C" not null,
    -- the entry's owner, who alone may see its grants; an entry never changes hands
    owner text collate "C" not null,
    created_at timestamptz not null,
    primary key (entry_id, principal_type, principal_id, permission)
);

create table entry_image (
    entry_id uuid not null references entry (id) on delete cascade,
    position integer not null check (position >= 0),
    data bytea not null,
    mime_type text not null,
    metadata text,
    primary key (entry_id, position)
);

-- images are compressed already
alter table entry_image alter column data set storage external;

create table setting (
    name text primary key,
    value text not null
);

create table installed_file (
    path text primary key,
    sha256 text not null
);
