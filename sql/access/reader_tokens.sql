create or replace function reader_tokens(p_principal text, p_groups text[])
returns text[]
language sql
immutable
return array['*', 'owner:' || p_principal] || granted_tokens(p_principal, p_groups);

comment on function reader_tokens is
'What stands for this principal in entry.readers and entry.writers: everyone, the owner of its entries, and whom grants name.';
