create or replace function bind_vector_scan(p_ef_search integer)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    perform
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', p_ef_search::text, true),
        -- farther than this, comparing all candidates is cheaper
        set_config('hnsw.max_scan_tuples', (20 * p_ef_search)::text, true),
        set_config('hnsw.scan_mem_multiplier', '4', true),
        -- the index gives the order, whatever the planner thinks of its costs
        set_config('enable_sort', 'off', true),
        set_config('enable_seqscan', 'off', true);
end;
$$;

comment on function bind_vector_scan is
'Sets, for this transaction, how the vector index is walked, and binds the planner to it; free_vector_scan() lets it decide again.';
