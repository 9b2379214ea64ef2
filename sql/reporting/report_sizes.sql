create or replace function report_sizes()
returns table (
    relation text,
    rows_estimated bigint,
    total_bytes bigint,
    table_bytes bigint,
    toast_bytes bigint,
    index_bytes bigint,
    indexes bigint,
    dead_rows_percent numeric,
    last_analyze timestamptz
)
language sql
stable
security definer
set search_path from current
as $$
select
    class.relname::text,
    greatest(class.reltuples, 0)::bigint,
    pg_total_relation_size(class.oid) as total_bytes,
    pg_relation_size(class.oid),
    pg_table_size(class.oid) - pg_relation_size(class.oid),
    pg_indexes_size(class.oid),
    (select count(*) from pg_catalog.pg_index as link where link.indrelid = class.oid),
    round(100.0 * statistics.n_dead_tup / nullif(statistics.n_live_tup + statistics.n_dead_tup, 0), 1),
    greatest(statistics.last_analyze, statistics.last_autoanalyze)
from pg_catalog.pg_class as class
left join pg_catalog.pg_stat_user_tables as statistics on statistics.relid = class.oid
where
    class.relkind in ('r', 'p', 'm')
    and class.relnamespace = (
        select home.relnamespace from pg_catalog.pg_class as home where home.oid = 'entry'::regclass
    )
order by total_bytes desc, class.relname;
$$;

comment on function report_sizes is
'Size of every table of the schema with its long values (toast) and its indexes, those of embeddings included where there are any.';
