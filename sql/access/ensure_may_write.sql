create or replace function ensure_may_write()
returns void
language plpgsql
stable
set search_path from current
as $$
begin
    if current_principal() is null then
        perform raise_error('PC001', 'The request names no principal', p_hint => 'Call begin_request() first.');
    elsif not may_write() then
        perform raise_error('PC002', 'The anonymous principal is read-only');
    end if;
end;
$$;

comment on function ensure_may_write is 'Raises PC001 without a principal and PC002 for the anonymous one.';
