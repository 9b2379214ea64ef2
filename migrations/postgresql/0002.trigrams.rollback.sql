drop index entry_trigram_idx;
