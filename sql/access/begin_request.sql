create or replace function begin_request(
    p_principal text,
    p_groups text[] default '{}',
    p_roles text[] default '{}',
    p_role name default 'pgcontext_server',
    p_timeout_ms integer default 0
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    if coalesce(p_principal, '') = '' then
        perform raise_error('PC001', 'The request names no principal');
    end if;
    perform
        set_config('pgcontext.principal', p_principal, true),
        set_config('pgcontext.groups', p_groups::text, true),
        set_config('pgcontext.roles', p_roles::text, true),
        set_config('pgcontext.readers', reader_tokens(p_principal, p_groups)::text, true),
        set_config('statement_timeout', p_timeout_ms::text, true),
        -- the fixed queries of this schema look entries up by id or by thread, where a plan made once is as good
        -- as a plan made for every call; the searches are built as text and planned each time all the same
        set_config('plan_cache_mode', 'force_generic_plan', true);
    if p_role is not null then
        perform set_config('role', p_role, true);
    end if;
end;
$$;

comment on function begin_request is
'Says who the rest of this transaction acts for, and drops to the role that the policies bind (p_role null: stay as you are). Has an effect for trusted logins only; see is_trusted_session(). p_timeout_ms bounds each statement, 0 does not.';
