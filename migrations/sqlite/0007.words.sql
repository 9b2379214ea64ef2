-- Every place of every lexeme, to count them by; and which entries have several chunks.
-- depends: 0003.chunks

create virtual table chunk_vocabulary using fts5vocab('chunk_words', 'instance');

create index chunk_part_idx on chunk (entry_row_id) where is_part;
