create or replace function derive_chunks()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    if coalesce(current_setting('pgcontext.writes_chunks', true), '') <> 'on' then
        perform write_chunks(new.id, new.text_content);
    else
        delete from chunk where chunk.entry_id = new.id;
    end if;
    return null;
end;
$$;

comment on function derive_chunks is
'Keeps the chunks of an entry to its text, whoever writes it; the functions of this schema bring better ones (pgcontext.writes_chunks = on) than a cut by length.';

create or replace trigger derive_chunks_of_new_text
after insert on entry
for each row
when (coalesce(current_setting('pgcontext.writes_chunks', true), '') <> 'on')
execute function derive_chunks();

create or replace trigger derive_chunks_of_changed_text
after update of text_content on entry
for each row
when (old.text_content <> new.text_content)
execute function derive_chunks();
