create or replace function quote_lexeme(p_lexeme text, p_is_prefix boolean default false)
returns text
language sql
immutable
strict
return ''''
|| replace(replace(p_lexeme, '\', '\\'), '''', '''''')
|| ''''
|| case when p_is_prefix then ':*' else '' end;

comment on function quote_lexeme is 'A lexeme, or the beginning of lexemes, as an operand of a tsquery.';
