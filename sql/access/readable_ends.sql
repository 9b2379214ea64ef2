create or replace function readable_ends(p_principal text, p_thread_id text)
returns table (first_entry timestamptz, last_entry timestamptz, last_id uuid)
language sql
stable
rows 2
begin atomic
    with own_first as (
        select e.created_at, e.id
        from entry as e
        where e.owner = p_principal and e.thread_id = p_thread_id
        order by e.created_at, e.id
        limit 1
    ),

    own_last as (
        select e.created_at, e.id
        from entry as e
        where e.owner = p_principal and e.thread_id = p_thread_id
        order by e.created_at desc, e.id desc
        limit 1
    ),

    public_first as (
        select e.created_at, e.id
        from entry as e
        where e.visibility = 'public' and e.thread_id = p_thread_id
        order by e.created_at, e.id
        limit 1
    ),

    public_last as (
        select e.created_at, e.id
        from entry as e
        where e.visibility = 'public' and e.thread_id = p_thread_id
        order by e.created_at desc, e.id desc
        limit 1
    )

    select own_first.created_at as first_entry, own_last.created_at as last_entry, own_last.id as last_id
    from own_first
    cross join own_last
    union all
    select public_first.created_at as first_entry, public_last.created_at as last_entry, public_last.id as last_id
    from public_first
    cross join public_last;
end;

comment on function readable_ends is
'The first and the last of the principal''s own entries of a thread, and of its public ones, from indexes that hold nothing else. For the functions of this schema that run as the owner of the tables.';
