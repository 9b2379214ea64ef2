create or replace function backfill_chunks(p_after uuid, p_limit integer)
returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    v_entry record;
    v_last uuid;
begin
    for v_entry in
        select entry.id, entry.text_content
        from entry
        where
            entry.id > p_after
            and not exists (select from chunk where chunk.entry_id = entry.id)
        order by entry.id
        limit p_limit
        for no key update
    loop
        perform write_chunks(v_entry.id, v_entry.text_content);
        v_last := v_entry.id;
    end loop;
    return v_last;
end;
$$;

comment on function backfill_chunks is
'Gives chunks to up to p_limit entries behind p_after that have none, in id order; the last of them, null when there are no more. The installer calls it, each time in a transaction of its own.';
