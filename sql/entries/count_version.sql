create or replace function count_version()
returns trigger
language plpgsql
volatile
set search_path from current
as $$
begin
    perform ensure_metadata_fits(new.metadata);
    new.version := old.version + 1;
    new.updated_at := clock_timestamp();
    return new;
end;
$$;

comment on function count_version is 'Counts the version up and notes the time whenever an entry is changed; grants change neither.';

create or replace trigger count_version
before update of text_content, metadata, tags, content_type, visibility on entry
for each row execute function count_version();
