create or replace function get_entry_rights(p_entry_ids uuid[])
returns table (entry_id uuid, version bigint, is_owner boolean, is_writable boolean)
language plpgsql
stable
rows 30
security definer
set search_path from current
as $$
begin
    return query
    select e.id, e.version, e.is_owner, e.writers && (select current_readers())
    from (
        select wanted.id, min(wanted.place) as place
        from unnest(p_entry_ids) with ordinality as wanted (id, place)
        group by wanted.id
    ) as wanted
    inner join readable_entry as e on e.id = wanted.id
    order by wanted.place;
end;
$$;

comment on function get_entry_rights is
'Version and rights of those of the entries that the current principal may read, in the order given.';
