drop index chunk_part_idx;
drop table chunk_vocabulary;
