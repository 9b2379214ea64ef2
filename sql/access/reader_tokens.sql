create or replace function reader_tokens(p_principal text, p_groups text[])
returns text[]
language sql
immutable
return array['*', 'user:' || p_principal] || array(select 'group:' || g from unnest(p_groups) as g);

comment on function reader_tokens is
'The entries of entry.readers and entry.writers that stand for this principal: everyone, the user, its groups.';
