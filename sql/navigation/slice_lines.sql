create or replace function slice_lines(p_text text, p_start_line integer, p_end_line integer)
returns table (start_char integer, end_char integer, start_line integer, end_line integer, span text)
language sql
immutable
rows 1
begin atomic
    with counted as (
        -- as many lines as matter
        select case
            when find_line_break(p_text, p_end_line, false) is not null then greatest(p_end_line, 1)
            else 1 + count_line_breaks(p_text)
        end as lines
    ),

    asked as (
        select
            least(greatest(coalesce(p_start_line, 1), 1), counted.lines) as start_line,
            least(greatest(coalesce(p_end_line, counted.lines), 1), counted.lines) as end_line
        from counted
    ),

    cut as (
        select
            asked.start_line,
            asked.end_line,
            find_line_break(p_text, asked.start_line - 1, true) as start_char,
            coalesce(find_line_break(p_text, asked.end_line, false), length(p_text)) as end_char
        from asked
    )

    select
        cut.start_char,
        cut.end_char,
        cut.start_line,
        cut.end_line,
        substr(p_text, cut.start_char + 1, cut.end_char - cut.start_char) as span
    from cut;
end;

comment on function slice_lines is
'The lines of a text from one number to another, without the last one''s break, with the numbers cut to the text and the offsets at which they begin and end.';
