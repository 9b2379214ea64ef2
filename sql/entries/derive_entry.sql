create or replace function derive_entry()
returns trigger
language plpgsql
volatile
set search_path from current
as $$
declare
    v_principal constant text := current_principal();
    v_is_published boolean;
begin
    if tg_op = 'INSERT' then
        new.owner := coalesce(new.owner, v_principal);
        new.readers := entry_readers(new.id, new.owner, new.visibility);
        new.writers := entry_writers(new.id, new.owner);
        v_is_published := new.visibility = 'public';
    elsif new.visibility is distinct from old.visibility then
        if v_principal is distinct from old.owner and row_security_active(tg_relid) then
            perform raise_error(
                'PC012', 'Only the owner may change the visibility of an entry',
                jsonb_build_object('entry_id', entry_hex(old.id))
            );
        end if;
        new.readers := entry_readers(new.id, new.owner, new.visibility);
        v_is_published := new.visibility = 'public';
    end if;

    -- nobody to ask is the operator, at work on the tables directly
    if v_is_published and v_principal is not null and not may_publish() then
        perform raise_error(
            'PC003', 'Publishing needs a role that the caller lacks',
            jsonb_build_object('role', setting_value('publish_role'))
        );
    end if;

    if tg_op = 'INSERT' or new.text_content is distinct from old.text_content then
        new.content_hash := encode(sha256(convert_to(new.text_content, 'UTF8')), 'hex');
    end if;
    return new;
end;
$$;

comment on function derive_entry is
'Keeps what follows from other columns right (owner, readers, writers, content_hash), and guards publishing.';

create or replace trigger derive_entry
before insert or update of visibility, text_content on entry
for each row execute function derive_entry();
