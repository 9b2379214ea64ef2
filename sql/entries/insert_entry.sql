create or replace function insert_entry(
    p_entry jsonb, p_embeddings halfvec[] default null, p_token_codes bytea[] default null
)
returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    v_images constant jsonb := coalesce(p_entry -> 'images', '[]');
    v_id uuid;
begin
    perform set_config('pgcontext.writes_chunks', 'on', true);
    insert into entry (thread_id, source, content_type, text_content, metadata, tags, visibility)
    values (
        p_entry ->> 'thread_id',
        p_entry ->> 'source',
        case when v_images = '[]' then 'text' else 'multimodal' end,
        p_entry ->> 'text',
        coalesce(p_entry -> 'metadata', '{}'),
        coalesce(text_array(p_entry -> 'tags'), '{}'),
        coalesce(p_entry ->> 'visibility', setting_value('default_visibility'), 'private')
    )
    returning id into v_id;
    perform set_config('pgcontext.writes_chunks', 'off', true);
    perform replace_chunks(v_id, p_entry -> 'chunks', p_embeddings, p_token_codes);
    if v_images <> '[]' then
        perform replace_images(v_id, v_images);
    end if;
    if setting_value('author_group_grants') = 'true' then
        insert into entry_grant (entry_id, principal_type, principal_id, permission, granted_by, created_at)
        select distinct v_id, 'group', member.name, 'read', current_principal(), clock_timestamp()
        from unnest(current_groups()) as member (name)
        where member.name <> '';
    end if;
    return v_id;
end;
$$;

comment on function insert_entry is
'Inserts one entry of the current principal: {thread_id, source, text, metadata, tags, images, visibility, chunks}; see write_chunks.';
