create or replace function report_configuration()
returns table (area text, name text, value text)
language sql
stable
security definer
set search_path from current
as $$
select
    'version' as area,
    'postgresql' as name,
    current_setting('server_version') as value
union all
select
    'extension',
    pg_extension.extname,
    pg_extension.extversion
from pg_catalog.pg_extension
union all
select
    'deployment',
    setting.name,
    setting.value
from setting
where setting.name <> 'lock_salt'
union all
select
    'migration',
    _yoyo_migration.migration_id,
    to_char(_yoyo_migration.applied_at_utc, 'YYYY-MM-DD HH24:MI:SS')
from _yoyo_migration
union all
select
    'server',
    pg_settings.name,
    concat_ws(' ', pg_settings.setting, pg_settings.unit)
from pg_catalog.pg_settings
where
    pg_settings.name in (
        'autovacuum', 'default_transaction_isolation', 'effective_cache_size', 'jit', 'max_connections',
        'max_parallel_workers_per_gather', 'random_page_cost', 'row_security', 'server_encoding',
        'shared_buffers', 'shared_preload_libraries', 'synchronous_commit', 'TimeZone', 'work_mem'
    )
order by area, name;
$$;

comment on function report_configuration is
'Versions, extensions, migrations, what the operator decided for the deployment, and the settings of PostgreSQL that matter here.';
