-- Which entries are documents of a corpus, read out of their metadata.
-- depends: 0001.entries

-- The table is rewritten once, which the migration's lock makes no worse: nobody reads while tables change.
-- squawk-ignore-file adding-field-with-default

-- A managed entry has a valid block metadata.ingest {scope, source_id, meta_digest, synced_at} whose scope is its
-- thread; docs/sync.md says what is valid. Both columns are null for every other entry.
alter table entry
add column source_id text collate "C" generated always as (
    case
        when
            metadata ? 'ingest'
            and metadata -> 'ingest' ->> 'scope' = thread_id
            and metadata -> 'ingest' ?& '{scope,source_id,meta_digest,synced_at}'
            and jsonb_array_length(
                jsonb_path_query_array(metadata, 'strict $.ingest.keyvalue()', silent => true)
            ) = 4
            and not jsonb_path_exists(metadata, 'strict $.ingest.* ? (@.type() != "string")', silent => true)
            and length(metadata -> 'ingest' ->> 'source_id') between 1 and 256
            and length(metadata -> 'ingest' ->> 'meta_digest') = 64
            and (metadata -> 'ingest' ->> 'meta_digest') collate "C" !~ '[^0-9a-fA-F]'
            and (metadata -> 'ingest' ->> 'synced_at') collate "C" >= '0001'
            and (metadata -> 'ingest' ->> 'synced_at') collate "C"
            ~ '(?x) ^ (
                [0-9]{4} - (0[13578]|1[02]) - (0[1-9]|[12][0-9]|3[01])
                | [0-9]{4} - (0[469]|11) - (0[1-9]|[12][0-9]|30)
                | [0-9]{4} - 02 - (0[1-9]|1[0-9]|2[0-8])
                | ([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00) - 02 - 29
            )
            T ([01][0-9]|2[0-3]) : [0-5][0-9] : [0-5][0-9] (\.[0-9]{1,9})? (Z|\+00:00) $'
            then metadata -> 'ingest' ->> 'source_id'
    end
) stored,
-- a digest of the thread, so that a key of the index below fits into it, however long the names are
add column corpus bytea generated always as (
    case
        when metadata ? 'ingest' and metadata -> 'ingest' ->> 'scope' = thread_id
            then sha256(replace(thread_id, '\', '\\')::bytea)
    end
) stored;

create index entry_corpus_idx on entry (corpus, owner, source_id, id) where source_id is not null;
