create or replace function replace_images(p_entry_id uuid, p_images jsonb)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    delete from entry_image where entry_image.entry_id = p_entry_id;
    insert into entry_image (entry_id, position, data, mime_type, metadata)
    select
        p_entry_id,
        image.place - 1,
        decode(image.value ->> 'data', 'base64'),
        image.value ->> 'mime_type',
        image.value ->> 'metadata'
    from jsonb_array_elements(p_images) with ordinality as image (value, place);
end;
$$;

comment on function replace_images is
'Gives an entry these images [{data (base64), mime_type, metadata}] in place of those it has.';
