create or replace function find_managed(
    p_thread_id text, p_limit integer, p_after_source_id text, p_after_entry_id uuid
)
returns setof uuid
language plpgsql
stable
rows 100
security definer
set search_path from current
as $$
begin
    return query
    select e.id
    from entry as e
    where
        e.corpus = corpus_digest(p_thread_id)
        and e.owner = (select current_principal())
        and e.source_id is not null
        -- a source id is never empty
        and (e.source_id, e.id)
        > (coalesce(p_after_source_id, ''), coalesce(p_after_entry_id, '00000000-0000-0000-0000-000000000000'))
    order by e.source_id, e.id
    limit p_limit;
end;
$$;

comment on function find_managed is
'The current principal''s managed entries of a thread that follow a source id and entry id, by source id and then id. Ids only; list_ingest_state() reads them through the policies.';
