create or replace function merge_patch(p_target jsonb, p_patch jsonb)
returns jsonb
language plpgsql
immutable
set search_path from current
as $$
begin
    if jsonb_typeof(p_patch) <> 'object' then
        return p_patch;
    end if;
    return (
        select coalesce(
            jsonb_object_agg(
                coalesce(patch.key, kept.key),
                case when patch.key is null then kept.value else merge_patch(kept.value, patch.value) end
            ),
            '{}'
        )
        from jsonb_each(
            case when jsonb_typeof(p_target) = 'object' then p_target else '{}' end
        ) as kept
        full outer join jsonb_each(p_patch) as patch on patch.key = kept.key
        where patch.key is null or patch.value <> 'null'
    );
end;
$$;

comment on function merge_patch is
'Applies a JSON Merge Patch (RFC 7396): new keys are added, given ones replaced, nulls remove, arrays are replaced whole.';
