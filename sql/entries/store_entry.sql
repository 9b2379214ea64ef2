create or replace function store_entry(
    p_entry jsonb, p_embeddings halfvec[] default null, p_token_codes bytea[] default null
)
returns table (entry_id uuid, is_new boolean)
language plpgsql
volatile
set search_path from current
as $$
declare
    v_locked uuid;
begin
    if coalesce((p_entry ->> 'deduplicate')::boolean, true) then
        loop
            entry_id := find_repeated_entry(
                p_entry ->> 'thread_id', p_entry ->> 'source', p_entry ->> 'text'
            );
            exit when entry_id is null or entry_id = v_locked;
            -- while this waits for the lock, the entry may change or go
            perform lock_entries(array[entry_id]);
            v_locked := entry_id;
        end loop;
    end if;
    is_new := entry_id is null;
    if is_new then
        entry_id := insert_entry(p_entry, p_embeddings, p_token_codes);
    else
        perform merge_entry(entry_id, p_entry);
    end if;
    return next;
end;
$$;

comment on function store_entry is
'One item of store_entries(): merges into the entry it repeats, or inserts a new one. Relies on the locks taken there.';
