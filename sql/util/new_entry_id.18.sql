create or replace function new_entry_id()
returns uuid
language sql
volatile
return uuidv7();

comment on function new_entry_id is 'A new UUID of version 7, in time order with its predecessors.';
