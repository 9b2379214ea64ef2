create or replace function report_coverage()
returns table (part text, covered bigint, total bigint, percent numeric)
language sql
stable
security definer
set search_path from current
as $$
with parts as (
    select
        'summaries' as part,
        count(entry.summary) as covered,
        count(*) as total
    from entry
    union all
    select
        'chunks with embeddings' as part,
        count(chunk_embedding.entry_id) as covered,
        count(*) as total
    from chunk
    left join chunk_embedding
        on chunk_embedding.entry_id = chunk.entry_id and chunk_embedding.chunk_index = chunk.chunk_index
)

select
    parts.part,
    parts.covered,
    parts.total,
    round(100.0 * parts.covered / nullif(parts.total, 0), 1)
from parts
order by parts.part;
$$;

comment on function report_coverage is
'How many entries and chunks have what is generated for them; one row for each kind of thing, by name.';
