create or replace function update_entry(
    p_change jsonb,
    p_changes_before integer default 0,
    p_embeddings halfvec[] default null,
    p_token_codes bytea[] default null
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_id constant uuid := (p_change ->> 'entry_id')::uuid;
    v_images constant jsonb := p_change -> 'images';
    v_chunks constant jsonb := p_change -> 'chunks';
    v_rights record;
    v_refusal text;
    v_has_new_chunks boolean;
begin
    select * into v_rights from get_entry_rights(array[v_id]);
    v_refusal := case
        when v_rights.entry_id is null then 'PC010'
        when not v_rights.is_writable then 'PC011'
        when p_change ? 'visibility' and not v_rights.is_owner then 'PC012'
        when v_rights.version - p_changes_before <> (p_change ->> 'expected_version')::bigint then 'PC020'
    end;
    if v_refusal is not null then
        perform raise_error(
            v_refusal, 'The entry cannot be changed', jsonb_build_object('entry_id', entry_hex(v_id))
        );
    end if;

    -- another text, or embeddings that a text has been waiting for
    v_has_new_chunks := p_change ? 'text' and (
        v_chunks @? '$[*][2] ? (@ != null)'
        or p_change ->> 'text' <> (select text_content from entry where id = v_id)
    ) is true;
    perform set_config('pgcontext.writes_chunks', 'on', true);
    update entry
    set
        text_content = coalesce(p_change ->> 'text', entry.text_content),
        summary = case
            when p_change ->> 'text' is distinct from entry.text_content and p_change ? 'text' then null
            else entry.summary
        end,
        metadata = coalesce(
            p_change -> 'metadata',
            merge_patch(entry.metadata, p_change -> 'metadata_patch'),
            entry.metadata
        ),
        tags = coalesce(text_array(p_change -> 'tags'), entry.tags),
        visibility = coalesce(p_change ->> 'visibility', entry.visibility),
        content_type = case
            when v_images is null then entry.content_type
            when v_images = '[]' then 'text'
            else 'multimodal'
        end
    where entry.id = v_id;
    perform set_config('pgcontext.writes_chunks', 'off', true);

    if v_has_new_chunks then
        perform replace_chunks(v_id, v_chunks, p_embeddings, p_token_codes);
    end if;
    if v_images is not null then
        perform replace_images(v_id, v_images);
    end if;
end;
$$;

comment on function update_entry is
'One item of update_entries(): PC010 not readable, PC011 not changeable, PC012 visibility by another than the owner, PC020 the stored version, less the changes that this call made before, is not the expected one.';
