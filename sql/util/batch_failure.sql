create or replace function batch_failure(
    p_sqlstate text, p_message text, p_detail text, p_index integer, p_atomic boolean
)
returns jsonb
language plpgsql
volatile
set search_path from current
as $$
begin
    if p_sqlstate not like 'PC%' then
        raise exception using errcode = p_sqlstate, message = p_message, detail = p_detail;
    elsif p_atomic then
        perform raise_error(p_sqlstate, p_message, p_detail::jsonb || jsonb_build_object('index', p_index));
    end if;
    return p_detail::jsonb;
end;
$$;

comment on function batch_failure is
'What a batch does with a failed item: a refusal of this schema is handed back for the item''s row, or raised with the item''s index in an atomic batch; any other error is raised as it came.';
