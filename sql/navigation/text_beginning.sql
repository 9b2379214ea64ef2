create or replace function text_beginning(p_entry_id uuid, p_lines integer)
returns text
language plpgsql
stable
set search_path from current
as $$
declare
    v_size integer := 65536;
    v_text text;
begin
    loop
        select case when p_lines is null then e.text_content else left(e.text_content, v_size) end
        into v_text
        from entry as e
        where e.id = p_entry_id;
        -- a break that is the last thing read may be half of one
        exit when
            v_text is null or p_lines is null or length(v_text) < v_size
            or find_line_break(v_text, p_lines, true) < length(v_text);
        v_size := least(v_size * 8::bigint, 2147483647);
    end loop;
    return v_text;
end;
$$;

comment on function text_beginning is
'As much of the beginning of an entry''s text as holds so many lines, and what else came with them: a text is read piece by piece, and to its end only when it has to be. Reads what the caller may.';
