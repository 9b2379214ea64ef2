create or replace function split_text(p_text text)
returns table (begin_offset integer, end_offset integer)
language plpgsql
immutable
strict
rows 1
set search_path from current
as $$
declare
    v_length constant integer := length(p_text);
    -- places are counted within a block: in a long text, the way to a place is long
    v_block_size constant integer := 65536;
    v_base integer := 0;
    v_block text := left(p_text, v_block_size);
    v_found integer;
begin
    begin_offset := 0;
    loop
        if begin_offset + 1500 > v_base + v_block_size then
            v_base := begin_offset;
            v_block := substr(p_text, v_base + 1, v_block_size);
        end if;
        end_offset := least(begin_offset + 1500, v_length);
        if end_offset < v_length then
            -- end behind a white space, but not before the middle
            v_found := regexp_instr(
                reverse(substr(v_block, begin_offset - v_base + 751, 750)), '[ \t\n\v\f\r]'
            );
            end_offset := end_offset - greatest(v_found - 1, 0);
        end if;
        return next;
        exit when end_offset >= v_length;
        -- the next one begins behind the first white space of the overlap
        begin_offset := end_offset - 150
        + regexp_instr(substr(v_block, end_offset - 150 - v_base + 1, 150), '[ \t\n\v\f\r]');
    end loop;
end;
$$;

comment on function split_text is
'Cuts a text into spans of at most 1500 characters at white space, which overlap by up to 150 and together cover it: what a text gets that comes without chunks.';
