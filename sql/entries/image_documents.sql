create or replace function image_documents(p_entry_id uuid)
returns jsonb
language sql
stable
begin atomic
    select
        coalesce(
            jsonb_agg(
                jsonb_strip_nulls(
                    jsonb_build_object(
                        'data', translate(encode(entry_image.data, 'base64'), e'\n', ''),
                        'mime_type', entry_image.mime_type,
                        'metadata', entry_image.metadata
                    )
                )
                order by entry_image.position
            ),
            '[]'
        )
    from entry_image
    where entry_image.entry_id = p_entry_id;
end;

comment on function image_documents is 'The images of a readable entry in the form that replace_images() takes.';
