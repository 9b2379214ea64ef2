drop table chunk_embedding;
drop table chunk;
