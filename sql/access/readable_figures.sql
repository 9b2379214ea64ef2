create or replace function readable_figures(p_principal text, p_granted text[])
returns table (
    thread_id text,
    entries bigint,
    from_users bigint,
    multimodals bigint,
    first_entry timestamptz,
    last_entry timestamptz,
    last_id uuid,
    is_exact boolean,
    is_noted boolean
)
language sql
stable
begin atomic
    select
        own.thread_id, own.entries, own.from_users, own.multimodals,
        own.first_entry, own.last_entry, own.last_id, own.is_exact, true as is_noted
    from thread_figure as own
    where own.owner = p_principal
    union all
    select
        public.thread_id, public.entries, public.from_users, public.multimodals,
        public.first_entry, public.last_entry, public.last_id, public.is_exact, true as is_noted
    from thread_figure as public
    where public.visibility = 'public' and public.owner <> p_principal
    union all
    select
        granted.thread_id,
        1 as entries,
        (granted.source = 'user')::integer as from_users,
        (granted.content_type = 'multimodal')::integer as multimodals,
        granted.created_at as first_entry,
        granted.created_at as last_entry,
        granted.id as last_id,
        true as is_exact,
        false as is_noted
    from entry as granted
    where granted.visibility = 'private' and granted.owner <> p_principal and granted.readers && p_granted;
end;

comment on function readable_figures is
'What the readable entries of each thread add up to: noted for the principal''s own and for public ones, and a row for each entry that was granted (see granted_tokens). For the functions of this schema that run as the owner of the tables.';
