-- What search looks at: every text in chunks, their words and their embeddings.
-- depends: 0001.entries

-- An entry's text, cut into spans of code points that together cover it. Words are kept for a chunk and not for a
-- whole text, since a tsvector holds a megabyte at most.
create table chunk (
    entry_id uuid not null references entry (id) on delete cascade,
    chunk_index integer not null check (chunk_index >= 0),
    begin_offset integer not null check (begin_offset >= 0),
    end_offset integer not null check (end_offset > begin_offset),
    -- whether the entry has other chunks
    is_part boolean not null,
    word_count integer not null check (word_count >= 0),
    words tsvector not null,
    primary key (entry_id, chunk_index)
);

-- ranking reads the words of each candidate: in the row and as they are, they cost no further read
alter table chunk alter column words set storage external;
alter table chunk set (toast_tuple_target = 8160);

create index chunk_words_idx on chunk using gin (words);

create table chunk_embedding (
    entry_id uuid not null,
    chunk_index integer not null,
    embedding halfvec(384) not null,
    -- sixteen bytes for each token of the chunk, for reranking
    token_codes bytea,
    primary key (entry_id, chunk_index),
    foreign key (entry_id, chunk_index) references chunk (entry_id, chunk_index) on delete cascade
);

-- random bits, which no compression makes smaller
alter table chunk_embedding alter column token_codes set storage external;

create index chunk_embedding_idx on chunk_embedding
using hnsw (embedding halfvec_l2_ops) with (m = 16, ef_construction = 64);
