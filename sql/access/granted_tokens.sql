create or replace function granted_tokens(p_principal text, p_groups text[])
returns text[]
language sql
immutable
return array['user:' || p_principal] || array(select 'group:' || g from unnest(p_groups) as g);

comment on function granted_tokens is
'What stands for this principal in entry.readers and entry.writers where a grant names it or one of its groups.';
