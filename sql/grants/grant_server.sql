create or replace function grant_server(p_role name default 'pgcontext_server')
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_schema constant name := current_schema();
begin
    execute format('grant usage on schema %I to %I', v_schema, p_role);
    execute format('revoke all on all tables in schema %I from %I', v_schema, p_role);
    execute format('revoke all on all functions in schema %I from %I', v_schema, p_role);
    execute (
        select
            format(
                'grant execute on function %s to %I',
                string_agg(pg_proc.oid::regprocedure::text, ', '), p_role
            )
        from pg_catalog.pg_proc
        where pg_proc.pronamespace = v_schema::regnamespace and not is_for_operators(pg_proc.proname)
    );

    execute format(
        'grant select (id, thread_id, source, content_type, text_content, metadata, tags, summary, content_hash, '
        'version, visibility, created_at, updated_at) on entry to %I', p_role
    );
    -- id, times, owner and all that follows are the database's to fill in
    execute format(
        'grant insert (thread_id, source, content_type, text_content, metadata, tags, visibility), '
        'update (text_content, metadata, tags, summary, content_type, visibility), delete on entry to %I', p_role
    );
    execute format('grant select, insert, delete on entry_grant, entry_image to %I', p_role);
    -- chunks are written by replace_chunks() alone
    execute format('grant select on chunk, chunk_embedding to %I', p_role);
    execute format('grant select on setting to %I', p_role);
    execute format('grant select on entry_overview, tag_overview, thread_overview to %I', p_role);
end;
$$;

comment on function grant_server is
'Grants the server''s role what the server needs and no more: it owns nothing, may not bypass the policies, and cannot read the columns that tell who owns an entry or who may read it.';
