create or replace function read_span(
    p_entry_id uuid,
    p_start_char integer default null,
    p_end_char integer default null,
    p_start_line integer default null,
    p_end_line integer default null
)
returns table (
    start_char integer,
    end_char integer,
    start_line integer,
    end_line integer,
    text_content text,
    visibility text,
    is_owner boolean
)
language plpgsql
stable
rows 1
set search_path from current
as $$
declare
    v_is_owner constant boolean := (
        select rights.is_owner from get_entry_rights(array[p_entry_id]) as rights
    );
begin
    if v_is_owner is null then
        perform raise_error(
            'PC010', 'No such entry, or none that you may read',
            jsonb_build_object('entry_id', entry_hex(p_entry_id))
        );
    end if;
    return query
    select span.*, e.visibility, v_is_owner
    from entry as e
    cross join lateral slice_lines(text_beginning(p_entry_id, p_end_line), p_start_line, p_end_line) as span
    where e.id = p_entry_id and coalesce(p_start_line, p_end_line) is not null
    union all
    -- one character more than asked for tells whether the span ends between a \r and a \n; what comes after it is
    -- not read
    select span.*, e.visibility, v_is_owner
    from entry as e
    cross join lateral slice_characters(
        case when p_end_char < 2147483647 then left(e.text_content, greatest(p_end_char, 0) + 1) else e.text_content end,
        p_start_char, p_end_char
    ) as span
    where e.id = p_entry_id and coalesce(p_start_line, p_end_line) is null;
end;
$$;

comment on function read_span is
'A part of the text of an entry, from p_start_char up to and without p_end_char or from p_start_line to p_end_line, without the last line''s break; null is the beginning or the end. What lies outside of the text is cut off, and the span that is left is told in characters (from 0) and lines (from 1). Raises PC010.';
