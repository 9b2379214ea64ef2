create or replace function entry_hex(p_entry_id uuid)
returns text
language sql
immutable
strict
return replace(p_entry_id::text, '-', '');

comment on function entry_hex is 'The canonical public form of an entry id: 32 lower-case hex digits.';
