-- Which entries are documents of a corpus, read out of their metadata.
-- depends: 0001.entries

-- A managed entry has a valid block metadata.ingest {scope, source_id, meta_digest, synced_at} whose scope is its
-- thread; docs/sync.md says what is valid. The column is null for every other entry.
alter table entry
add column source_id text generated always as (
    case
        when metadata ->> '$.ingest.scope' = thread_id
            and json_remove(
                metadata -> '$.ingest', '$.scope', '$.source_id', '$.meta_digest', '$.synced_at'
            ) = '{}'
            and json_type(metadata, '$.ingest.scope') = 'text'
            and json_type(metadata, '$.ingest.source_id') = 'text'
            and json_type(metadata, '$.ingest.meta_digest') = 'text'
            and json_type(metadata, '$.ingest.synced_at') = 'text'
            and length(metadata ->> '$.ingest.source_id') between 1 and 256
            and length(metadata ->> '$.ingest.meta_digest') = 64
            and metadata ->> '$.ingest.meta_digest' not glob '*[^0-9a-fA-F]*'
            and metadata ->> '$.ingest.synced_at' >= '0001'
            and metadata ->> '$.ingest.synced_at' glob
            '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]*'
            -- a day that does not exist comes out as another, or as none
            and date(substr(metadata ->> '$.ingest.synced_at', 1, 10))
            = substr(metadata ->> '$.ingest.synced_at', 1, 10)
            and substr(metadata ->> '$.ingest.synced_at', 12, 2) <= '23'
            and (
                substr(metadata ->> '$.ingest.synced_at', 20) in ('Z', '+00:00')
                or (
                    substr(metadata ->> '$.ingest.synced_at', 20, 1) = '.'
                    and ltrim(substr(metadata ->> '$.ingest.synced_at', 21), '0123456789') in ('Z', '+00:00')
                    and length(metadata ->> '$.ingest.synced_at') - 20
                    - length(ltrim(substr(metadata ->> '$.ingest.synced_at', 21), '0123456789')) between 1 and 9
                )
            )
            then metadata ->> '$.ingest.source_id'
    end
) virtual;

create index entry_corpus_idx on entry (thread_id, owner, source_id, id) where source_id is not null;
