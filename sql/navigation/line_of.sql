create or replace function line_of(p_text text, p_offset integer)
returns integer
language sql
immutable
-- an offset between \r and \n still belongs to the line that both of them end
return 1 + count_line_breaks(left(p_text, p_offset)) - (substr(p_text, p_offset, 2) = e'\r\n')::integer;

comment on function line_of is 'The number, from 1 on, of the line on which the character at an offset of a text stands.';
