create or replace function sync_metadata_indexes(p_fields jsonb, p_mode text default 'additive')
returns table (field text, action text)
language plpgsql
volatile
set search_path from current
as $$
declare
    v_field record;
begin
    for v_field in
        with wanted as (
            select
                each.key as name,
                each.value as type,
                'entry_metadata_' || substr(md5(index_definition(each.key, each.value)), 1, 12) as index_name
            from jsonb_each_text(p_fields) as each
        ),

        present as (
            select
                index.relname as index_name,
                obj_description(index.oid, 'pg_class') as name
            from pg_catalog.pg_index as link
            inner join pg_catalog.pg_class as index on index.oid = link.indexrelid
            where link.indrelid = 'entry'::regclass and index.relname like 'entry\_metadata\_%'
        )

        select
            coalesce(wanted.name, present.name) as name,
            wanted.type,
            coalesce(wanted.index_name, present.index_name) as index_name,
            case when present.index_name is null then 'create' else 'drop' end as action
        from wanted
        full outer join present on present.index_name = wanted.index_name
        where present.index_name is null or wanted.index_name is null
        order by action desc, name
    loop
        field := v_field.name;
        action := 'none';
        if v_field.action = 'create' and p_mode in ('additive', 'auto') then
            perform create_metadata_index(v_field.index_name, v_field.name, v_field.type);
            action := 'created';
        elsif v_field.action = 'drop' and p_mode = 'auto' then
            execute format('drop index %I', v_field.index_name);
            execute format('drop statistics if exists %I', v_field.index_name || '_statistics');
            action := 'dropped';
        elsif p_mode in ('strict', 'warn') then
            action := case v_field.action when 'create' then 'missing' else 'surplus' end;
        end if;
        if action <> 'none' then
            return next;
        end if;
    end loop;
end;
$$;

comment on function sync_metadata_indexes is
'Brings the indexes on metadata fields in line with {field: type}. additive creates the missing ones, auto also drops the surplus ones, strict and warn only report.';
