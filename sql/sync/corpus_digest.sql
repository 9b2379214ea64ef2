create or replace function corpus_digest(p_thread_id text)
returns bytea
language sql
immutable
return sha256(replace(p_thread_id, '\', '\\')::bytea);

comment on function corpus_digest is
'What entry.corpus holds for the managed entries of a thread: SHA-256 of the thread''s UTF-8 bytes.';
