create or replace function write_chunks(
    p_entry_id uuid,
    p_text text,
    p_chunks jsonb default null,
    p_embeddings halfvec[] default null,
    p_token_codes bytea[] default null
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_chunks constant jsonb := coalesce(
        p_chunks,
        (
            select jsonb_agg(jsonb_build_array(span.begin_offset, span.end_offset) order by span.begin_offset)
            from split_text(p_text) as span
        )
    );
begin
    delete from chunk where chunk.entry_id = p_entry_id;
    insert into chunk (entry_id, chunk_index, begin_offset, end_offset, is_part, word_count, words)
    select
        p_entry_id, piece.chunk_index, piece.begin_offset, piece.end_offset, jsonb_array_length(v_chunks) > 1,
        analysis.word_count, analysis.words
    from cut_text(p_text, v_chunks) as piece
    cross join lateral analyze_text(piece.content) as analysis;
    if p_embeddings is not null then
        insert into chunk_embedding (entry_id, chunk_index, embedding, token_codes)
        select p_entry_id, piece.place - 1, p_embeddings[piece.number], p_token_codes[piece.number]
        from (
            select given.place, (given.value ->> 2)::integer as number
            from jsonb_array_elements(v_chunks) with ordinality as given (value, place)
        ) as piece
        where piece.number is not null;
    end if;
end;
$$;

comment on function write_chunks is
'Writes the chunks of an entry with this text in place of those it has: [[begin, end, number], …] with the number of an embedding and token codes in the arrays or null; without p_chunks, those of split_text(). For replace_chunks(), derive_chunks() and backfill_chunks(), which know that this may be.';
