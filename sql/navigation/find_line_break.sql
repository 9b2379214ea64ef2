create or replace function find_line_break(p_text text, p_number integer, p_is_end boolean)
returns integer
language sql
immutable
return case
    when p_number < 1 then 0
    else nullif(
        regexp_instr(p_text collate "C", '\r\n|\r|\n', 1, p_number, case when p_is_end then 1 else 0 end), 0
    ) - 1
end;

comment on function find_line_break is
'The offset at which the line break of this number begins, or at which it ends; null when the text has fewer, and 0 for the one before the first line.';
