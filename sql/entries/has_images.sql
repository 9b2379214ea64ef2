create or replace function has_images(p_entry_id uuid, p_images jsonb)
returns boolean
language sql
stable
begin atomic
    select
        not exists (
            select
            from (
                select image.position, image.data, image.mime_type, image.metadata
                from entry_image as image
                where image.entry_id = p_entry_id
            ) as stored
            full outer join (
                select
                    image.place - 1 as position,
                    -- one image can be spelt in several ways in base64
                    decode(image.value ->> 'data', 'base64') as data,
                    image.value ->> 'mime_type' as mime_type,
                    image.value ->> 'metadata' as metadata
                from jsonb_array_elements(p_images) with ordinality as image (value, place)
            ) as given on stored.position = given.position
            where
                (stored.data, stored.mime_type, stored.metadata)
                is distinct from (given.data, given.mime_type, given.metadata)
        );
end;

comment on function has_images is
'Whether a readable entry has just these images [{data (base64), mime_type, metadata}], in this order.';
