create or replace function slice_characters(p_text text, p_start_char integer, p_end_char integer)
returns table (start_char integer, end_char integer, start_line integer, end_line integer, span text)
language sql
immutable
rows 1
begin atomic
    with asked as (
        select
            greatest(coalesce(p_start_char, 0), 0) as start_char,
            greatest(coalesce(p_end_char, 2147483647), 0) as end_char,
            length(p_text) as size
    ),

    cut as (
        select
            least(asked.start_char, asked.size) as start_char,
            least(greatest(asked.end_char, asked.start_char), asked.size) as end_char
        from asked
    )

    select
        cut.start_char,
        cut.end_char,
        line_of(p_text, cut.start_char) as start_line,
        line_of(p_text, greatest(cut.end_char - 1, cut.start_char)) as end_line,
        substr(p_text, cut.start_char + 1, cut.end_char - cut.start_char) as span
    from cut;
end;

comment on function slice_characters is
'The characters of a text from one offset up to another, with the offsets cut to the text and the lines of the first and the last of them.';
