create or replace function update_entries(
    p_changes jsonb,
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
    v_change jsonb;
    v_detail text;
    -- how often this call has changed each entry
    v_changed jsonb := '{}';
    v_times integer;
begin
    perform ensure_may_write();
    perform lock_entries(array(
        select (change.value ->> 'entry_id')::uuid from jsonb_array_elements(p_changes) as change
    ));
    index := -1;
    is_new := false;
    for v_change in select jsonb_array_elements(p_changes) loop
        index := index + 1;
        entry_id := (v_change ->> 'entry_id')::uuid;
        error_code := null;
        error_detail := null;
        begin
            v_times := coalesce((v_changed ->> entry_id::text)::integer, 0);
            perform update_entry(v_change, v_times, p_embeddings, p_token_codes);
            v_changed := v_changed || jsonb_build_object(entry_id, v_times + 1);
        exception when others then
            get stacked diagnostics error_code = returned_sqlstate, v_detail = pg_exception_detail;
            error_detail := batch_failure(error_code, sqlerrm, v_detail, index, p_atomic);
        end;
        return next;
    end loop;
end;
$$;

comment on function update_entries is
'Changes entries [{entry_id, expected_version, text, metadata, metadata_patch, tags, images, visibility, chunks}] in order; absent keys leave a part as it is. With expected_version a change applies to that version only; what this call itself has changed before does not count. Chunks are those of the text, see store_entries. Atomic: the first failure undoes all; otherwise it is reported in its row.';
