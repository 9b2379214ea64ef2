drop index entry_corpus_idx;
alter table entry drop column source_id;
