create or replace function report_indexes()
returns table (
    index_name text,
    table_name text,
    bytes bigint,
    scans bigint,
    is_valid boolean,
    is_unused boolean,
    duplicate_of text,
    bloat_percent integer
)
language sql
stable
security definer
set search_path from current
as $$
with indexes as (
    select
        index.oid,
        index.relname,
        index.reltuples,
        index.relpages,
        method.amname,
        owner.relname as table_name,
        home.nspname as schema_name,
        link.indrelid,
        link.indisvalid,
        link.indisunique,
        coalesce(statistics.idx_scan, 0) as scans,
        -- all that makes two indexes the same, but for their names
        concat_ws(
            ' ', link.indrelid, method.amname, link.indkey, link.indnkeyatts, link.indclass, link.indcollation,
            link.indoption, pg_get_expr(link.indexprs, link.indrelid), pg_get_expr(link.indpred, link.indrelid)
        ) as definition
    from pg_catalog.pg_index as link
    inner join pg_catalog.pg_class as index on index.oid = link.indexrelid
    inner join pg_catalog.pg_class as owner on owner.oid = link.indrelid
    inner join pg_catalog.pg_namespace as home on home.oid = owner.relnamespace
    inner join pg_catalog.pg_am as method on method.oid = index.relam
    left join pg_catalog.pg_stat_user_indexes as statistics on statistics.indexrelid = index.oid
    where
        home.oid = (
            select entries.relnamespace from pg_catalog.pg_class as entries where entries.oid = 'entry'::regclass
        )
),

widths as (
    select
        indexes.oid,
        -- header and line pointer of an item, then its columns
        12 + sum(coalesce(of_column.avg_width, of_expression.avg_width, 8)) as bytes_per_row
    from indexes
    inner join pg_catalog.pg_attribute as attribute on attribute.attrelid = indexes.oid
    left join pg_catalog.pg_stats as of_column
        on
            of_column.schemaname = indexes.schema_name
            and of_column.tablename = indexes.table_name
            and of_column.attname = attribute.attname
    left join pg_catalog.pg_stats as of_expression
        on
            of_expression.schemaname = indexes.schema_name
            and of_expression.tablename = indexes.relname
            and of_expression.attname = attribute.attname
    where indexes.amname = 'btree' and attribute.attnum > 0
    group by indexes.oid
)

select
    indexes.relname::text as index_name,
    indexes.table_name::text,
    pg_relation_size(indexes.oid),
    indexes.scans,
    indexes.indisvalid,
    indexes.scans = 0 and not indexes.indisunique,
    (
        select min(twin.relname::text)
        from indexes as twin
        where twin.definition = indexes.definition and twin.relname < indexes.relname
    ),
    case
        -- a few pages are no bloat, whatever is in them
        when indexes.relpages > 10 and indexes.reltuples >= 0
            then greatest(
                0, round(100 * (1 - indexes.reltuples * widths.bytes_per_row / (0.9 * 8168 * indexes.relpages)))
            )
    end::integer
from indexes
left join widths on widths.oid = indexes.oid
order by indexes.table_name, indexes.relname;
$$;

comment on function report_indexes is
'Health of the indexes: those that no query used since the statistics were last reset, exact duplicates, invalid ones, and for B-trees a rough estimate of the space that a reindex would give back (from the average widths of their columns; null where there is too little to say).';
