create or replace function derive_entry()
returns trigger
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_was_public boolean := false;
begin
    -- nobody to ask is the operator, at work on the tables directly: what such a statement says, holds
    if tg_op = 'INSERT' then
        perform ensure_metadata_fits(new.metadata);
        if v_principal is not null then
            new.id := null;
            new.created_at := null;
            new.updated_at := null;
            new.version := null;
        end if;
        new.id := coalesce(new.id, new_entry_id());
        new.created_at := coalesce(new.created_at, clock_timestamp());
        new.updated_at := coalesce(new.updated_at, new.created_at);
        new.version := coalesce(new.version, 1);
        new.owner := coalesce(new.owner, v_principal);
    else
        v_was_public := old.visibility = 'public';
        if new.owner <> old.owner or new.id <> old.id then
            perform raise_error('PC017', 'An entry keeps its owner and its id');
        elsif v_principal is not null and new.created_at <> old.created_at then
            perform raise_error('PC017', 'An entry keeps the time of its creation');
        elsif v_principal <> old.owner and new.visibility <> old.visibility then
            perform raise_error(
                'PC012', 'Only the owner may change the visibility of an entry',
                jsonb_build_object('entry_id', entry_hex(old.id))
            );
        end if;
    end if;

    if new.visibility = 'public' and not v_was_public and v_principal is not null and not may_publish() then
        perform raise_error(
            'PC003', 'Publishing needs a role that the caller lacks',
            jsonb_build_object('role', setting_value('publish_role'))
        );
    end if;

    -- whoever writes these columns, they say what follows from owner, visibility, grants and text
    new.readers := entry_readers(new.id, new.owner, new.visibility);
    new.writers := entry_writers(new.id, new.owner);
    new.content_hash := encode(sha256(convert_to(new.text_content, 'UTF8')), 'hex');
    return new;
end;
$$;

comment on function derive_entry is
'Fills in and keeps right what nobody but the database decides: id, times, owner, readers, writers, content_hash. Guards publishing.';

create or replace trigger derive_entry
before insert or update of id, created_at, owner, visibility, readers, writers, text_content, content_hash
on entry
for each row execute function derive_entry();
