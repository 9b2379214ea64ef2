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
    elsif current_setting('transaction_isolation') <> 'read committed' then
        -- after waiting for a lock a writer must see what the one before it has stored
        perform raise_error(
            'PC031', 'Writing needs the isolation level read committed',
            p_hint => 'Set default_transaction_isolation for the server''s login or the database.'
        );
    end if;
end;
$$;

comment on function ensure_may_write is
'Raises PC001 without a principal, PC002 for the anonymous one, and PC031 in a transaction of another isolation level than read committed.';
