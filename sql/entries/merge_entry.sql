create or replace function merge_entry(p_entry_id uuid, p_entry jsonb)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_images constant jsonb := p_entry -> 'images';
    v_has_new_images constant boolean := v_images is not null and not has_images(p_entry_id, v_images);
    v_stored record;
    v_tags text[];
    v_metadata jsonb;
begin
    select tags, metadata, content_type into v_stored from entry where id = p_entry_id;
    v_tags := array(
        select distinct tag collate "C" as tag
        from unnest(v_stored.tags || coalesce(text_array(p_entry -> 'tags'), '{}')) as tag
        order by tag
    );
    v_metadata := v_stored.metadata || coalesce(p_entry -> 'metadata', '{}');

    if v_has_new_images then
        perform replace_images(p_entry_id, v_images);
    end if;
    if v_has_new_images or v_tags <> v_stored.tags or v_metadata <> v_stored.metadata then
        update entry
        set
            tags = v_tags,
            metadata = v_metadata,
            content_type = case
                when not v_has_new_images then v_stored.content_type
                when v_images = '[]' then 'text'
                else 'multimodal'
            end
        where id = p_entry_id;
    end if;
end;
$$;

comment on function merge_entry is
'Merges a repeated store into its entry without losing anything: tags are united, given metadata keys laid over the stored ones, images replaced where given. Owner and visibility stay; so does the version when nothing differs.';
