drop trigger entry_trigram_after_delete;
drop trigger entry_trigram_after_update;
drop trigger entry_trigram_after_insert;
drop table entry_trigram;
