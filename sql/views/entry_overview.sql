create or replace view entry_overview
with (security_invoker = true, security_barrier = true) as
select
    entry.id,
    entry.created_at,
    entry.updated_at,
    entry.version,
    entry.thread_id,
    entry.source,
    entry.content_type,
    entry.visibility,
    entry.tags,
    entry.metadata,
    left(entry.text_content, 200) as beginning,
    length(entry.text_content) as characters
from entry;

comment on view entry_overview is
'The entries that you may read, one line each, with the first 200 characters of their texts.';
