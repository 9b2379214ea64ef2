create or replace function store_entries(
    p_entries jsonb,
    p_atomic boolean default true,
    p_embeddings halfvec[] default null,
    p_token_codes bytea[] default null
)
returns table (index integer, entry_id uuid, is_new boolean, error_code text, error_detail jsonb)
language plpgsql
volatile
rows 1
set search_path from current
as $$
declare
    v_entry jsonb;
    v_detail text;
begin
    perform ensure_may_write();
    perform lock_turns(p_entries);
    index := -1;
    for v_entry in select jsonb_array_elements(p_entries) loop
        index := index + 1;
        entry_id := null;
        is_new := false;
        error_code := null;
        error_detail := null;
        begin
            select stored.entry_id, stored.is_new into entry_id, is_new 
            from store_entry(v_entry, p_embeddings, p_token_codes) as stored;
        exception when others then
            get stacked diagnostics error_code = returned_sqlstate, v_detail = pg_exception_detail;
            error_detail := batch_failure(error_code, sqlerrm, v_detail, index, p_atomic);
        end;
        return next;
    end loop;
end;
$$;

comment on function store_entries is
'Stores entries [{thread_id, source, text, metadata, tags, images, visibility, deduplicate, chunks}] of the current principal, in order. A deduplicating item that repeats an entry merges into it (see find_repeated_entry). Chunks are [[begin, end, number], …], the number being a place in p_embeddings and p_token_codes or null. Atomic: the first failure undoes all; otherwise it is reported in its row.';
