create or replace function get_entry_rights(p_entry_ids uuid[])
returns table (entry_id uuid, version bigint, is_owner boolean, is_writable boolean)
language plpgsql
stable
rows 30
security definer
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_tokens constant text[] := current_readers();
begin
    return query
    select e.id, e.version, e.owner = v_principal, e.writers && v_tokens
    from (
        select wanted.id, min(wanted.place) as place
        from unnest(p_entry_ids) with ordinality as wanted (id, place)
        group by wanted.id
    ) as wanted
    inner join readable_entries() as e on e.id = wanted.id
    order by wanted.place;
end;
$$;

comment on function get_entry_rights is
'Version and rights of those of the entries that the current principal may read, in the order given.';
