create or replace function cut_text(p_text text, p_chunks jsonb)
returns table (chunk_index integer, begin_offset integer, end_offset integer, content text)
language plpgsql
immutable
strict
rows 1
set search_path from current
as $$
declare
    -- see split_text()
    v_block_size constant integer := 65536;
    v_base integer := 0;
    v_block text := left(p_text, v_block_size);
    v_covered integer := 0;
    v_last_begin integer := -1;
    v_chunk jsonb;
begin
    chunk_index := -1;
    for v_chunk in select jsonb_array_elements(p_chunks) loop
        chunk_index := chunk_index + 1;
        begin_offset := (v_chunk ->> 0)::integer;
        end_offset := (v_chunk ->> 1)::integer;
        if (begin_offset > v_last_begin and begin_offset <= v_covered and end_offset > v_covered) is not true then
            perform raise_error('PC033', 'The chunks are not in order or do not cover the text');
        end if;
        if end_offset > v_base + v_block_size then
            v_base := begin_offset;
            v_block := substr(p_text, v_base + 1, greatest(v_block_size, end_offset - begin_offset));
        end if;
        content := substr(v_block, begin_offset - v_base + 1, end_offset - begin_offset);
        v_last_begin := begin_offset;
        v_covered := end_offset;
        return next;
    end loop;
    if v_covered <> length(p_text) then
        perform raise_error('PC033', 'The chunks are not in order or do not cover the text');
    end if;
end;
$$;

comment on function cut_text is
'The chunks [[begin, end, …], …] of a text with what they hold; PC033 unless they are in order, together cover the text and end with it.';
