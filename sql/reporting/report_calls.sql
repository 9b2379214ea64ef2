create or replace function report_calls(p_limit integer default 20)
returns table (
    function_name text,
    calls bigint,
    total_ms numeric,
    mean_ms numeric,
    max_ms numeric,
    rows_returned bigint,
    note text
)
language plpgsql
stable
set search_path from current
as $$
declare
    v_home name;
begin
    select extnamespace::regnamespace::name into v_home
    from pg_catalog.pg_extension
    where extname = 'pg_stat_statements';
    if v_home is null then
        note := 'pg_stat_statements is not installed: add it to shared_preload_libraries and create the extension';
        return next;
        return;
    end if;
    if not pg_has_role(current_user, 'pg_read_all_stats', 'usage') then
        note := format('the statements of other logins are hidden: grant pg_read_all_stats to %I', current_user);
        return next;
    end if;

    begin
        -- the text of a statement is looked at and never shown: that of a command can hold values
        return query execute format(
            $query$
            with called as (
                select
                    substring(
                        statement.query
                        from '\m' || current_schema() || '"?\."?([a-z_0-9]+)"?\s*\('
                    ) as function_name,
                    statement.calls, statement.total_exec_time, statement.max_exec_time, statement.rows
                from %I.pg_stat_statements as statement
                inner join pg_catalog.pg_database on pg_database.oid = statement.dbid
                where pg_database.datname = current_database()
            )

            select
                called.function_name,
                sum(called.calls)::bigint,
                round(sum(called.total_exec_time)::numeric, 1),
                round((sum(called.total_exec_time) / nullif(sum(called.calls), 0))::numeric, 2),
                round(max(called.max_exec_time)::numeric, 1),
                sum(called.rows)::bigint,
                null::text
            from called
            where called.function_name in (
                select proname from pg_catalog.pg_proc where pronamespace = current_schema()::regnamespace
            )
            group by called.function_name
            order by sum(called.total_exec_time) desc
            limit $1
            $query$,
            v_home
        ) using p_limit;
    exception when object_not_in_prerequisite_state then
        note := 'pg_stat_statements counts nothing: add it to shared_preload_libraries and restart PostgreSQL';
        return next;
    end;
end;
$$;

comment on function report_calls is
'The stored functions that cost most time, from pg_stat_statements; without it, or where its figures are hidden from you, a note says what is missing. Never the text of a statement.';
