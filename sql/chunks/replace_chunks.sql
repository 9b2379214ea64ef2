create or replace function replace_chunks(
    p_entry_id uuid,
    p_chunks jsonb default null,
    p_embeddings halfvec[] default null,
    p_token_codes bytea[] default null
)
returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_text text;
begin
    select e.text_content into v_text
    from readable_entries() as e
    where e.id = p_entry_id and e.writers && (select current_readers()) and (select may_write());
    if v_text is null then
        perform raise_error(
            'PC011', 'The entry cannot be changed', jsonb_build_object('entry_id', entry_hex(p_entry_id))
        );
    end if;
    perform write_chunks(p_entry_id, v_text, p_chunks, p_embeddings, p_token_codes);
end;
$$;

comment on function replace_chunks is
'Gives an entry that the current principal may change these chunks of its text in place of those it has (see write_chunks). The only way to write chunks: their words are taken from the text as it is stored, and their offsets are checked against it.';
