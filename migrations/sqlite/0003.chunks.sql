-- What search looks at: every text in chunks, their words and their embeddings.
-- depends: 0001.entries

-- An entry's text, cut into spans of code points that together cover it. A number is never used twice, so that an
-- index in memory knows what is new.
create table chunk (
    row_id integer primary key autoincrement,
    entry_row_id integer not null references entry (row_id) on delete cascade,
    chunk_index integer not null check (chunk_index >= 0),
    begin_offset integer not null check (begin_offset >= 0),
    end_offset integer not null check (end_offset > begin_offset),
    -- whether the entry has other chunks
    is_part integer not null check (is_part in (0, 1)),
    word_count integer not null check (word_count >= 0),
    unique (entry_row_id, chunk_index)
) strict;

-- Fed with lexemes that stand ready, in order and apart by spaces; the tokenizer only takes them apart again. `words`
-- are the stems, `forms` the unstemmed words and whole identifiers.
create virtual table chunk_words using fts5 (
    words,
    forms,
    content = '',
    contentless_delete = 1,
    tokenize = "ascii tokenchars '-_./:@+#'"
);

create trigger chunk_words_delete after delete on chunk begin
    delete from chunk_words where rowid = old.row_id;
end;

create table chunk_embedding (
    chunk_row_id integer primary key references chunk (row_id) on delete cascade,
    -- float16, little endian
    embedding blob not null,
    -- sixteen bytes for each token of the chunk, for reranking
    token_codes blob
) strict;
