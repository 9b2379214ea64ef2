create or replace view readable_entry as
select entry.*, entry.owner = (select current_principal()) as is_owner
from entry
-- "is true" changes nothing but hides the test from the index on readers: what asks this view names ids or a
-- thread, and those indexes are the ones to use
where (entry.readers && (select current_readers())) is true;

comment on view readable_entry is
'The first wall: the entries that the current principal may read. For the functions of this schema, which run as its owner; nobody is granted it.';
