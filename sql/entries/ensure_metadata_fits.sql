create or replace function ensure_metadata_fits(p_metadata jsonb)
returns void
language plpgsql
immutable
set search_path from current
as $$
begin
    if length(p_metadata::text) > 1000000 then
        perform raise_error('PC032', 'Metadata may have at most 1000000 characters of JSON');
    end if;
end;
$$;

comment on function ensure_metadata_fits is
'Raises PC032 for metadata of more than a million characters: every search that finds the entry returns all of it.';
