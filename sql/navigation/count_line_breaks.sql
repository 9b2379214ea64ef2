create or replace function count_line_breaks(p_text text)
returns integer
language sql
immutable
return (
    with joined as (select replace(p_text, e'\r\n', e'\n') as text)

    select octet_length(joined.text) - octet_length(replace(replace(joined.text, e'\n', ''), e'\r', ''))
    from joined
);

comment on function count_line_breaks is 'How many lines of a text have ended: a line ends with \n, \r\n or \r alone.';
