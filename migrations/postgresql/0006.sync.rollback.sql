drop index entry_corpus_idx;
alter table entry drop column corpus, drop column source_id;
