create or replace function renew_words(p_after uuid, p_limit integer)
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
        where entry.id > p_after
        order by entry.id
        limit p_limit
        for no key update
    loop
        update chunk
        set words = analysis.words, word_count = analysis.word_count
        from cut_text(
            v_entry.text_content,
            (
                select jsonb_agg(jsonb_build_array(span.begin_offset, span.end_offset) order by span.chunk_index)
                from chunk as span
                where span.entry_id = v_entry.id
            )
        ) as piece
        cross join lateral analyze_text(piece.content) as analysis
        where chunk.entry_id = v_entry.id and chunk.chunk_index = piece.chunk_index;
        v_last := v_entry.id;
    end loop;
    return v_last;
end;
$$;

comment on function renew_words is
'Derives the words of up to p_limit entries behind p_after anew, in id order; the last of them, null when there are no more. The installer calls it when FTS_LANGUAGE has changed, each time in a transaction of its own.';
