create or replace view readable_entry as
select entry.*, entry.owner = (select current_principal()) as is_owner
from entry
where entry.readers && (select current_readers());

comment on view readable_entry is
'The first wall: the entries that the current principal may read. For the functions of this schema, which run as its owner; nobody is granted it.';
