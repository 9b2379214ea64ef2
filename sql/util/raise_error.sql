create or replace function raise_error(
    p_sqlstate text, p_message text, p_detail jsonb default '{}', p_hint text default ''
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    raise exception using errcode = p_sqlstate, message = p_message, detail = p_detail::text, hint = p_hint;
end;
$$;

comment on function raise_error is
'Raises one of the errors listed in sql/README.md: SQLSTATE of class PC, particulars as a JSON object in DETAIL.';
