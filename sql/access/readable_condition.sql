create or replace function readable_condition()
returns text
language sql
stable
return format('entry.readers && %L::text[]', current_readers());

comment on function readable_condition is
'The condition of readable_entries() with the tokens of the current principal written out, for queries built as text: the planner knows from its statistics how many entries a principal may read, and picks its indexes by that.';
