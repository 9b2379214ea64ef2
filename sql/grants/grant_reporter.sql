create or replace function grant_reporter(p_role name default 'pgcontext_reporter')
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_schema constant name := current_schema();
begin
    execute format('grant usage on schema %I to %I', v_schema, p_role);
    execute (
        select
            format(
                'grant execute on function %s to %I',
                string_agg(pg_proc.oid::regprocedure::text, ', '), p_role
            )
        from pg_catalog.pg_proc
        where pg_proc.pronamespace = v_schema::regnamespace and pg_proc.proname like 'report\_%'
    );
end;
$$;

comment on function grant_reporter is
'Grants the role of those who report on the deployment the functions report_… and nothing else: figures, never texts or metadata.';
