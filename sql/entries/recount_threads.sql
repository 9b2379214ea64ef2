create or replace function recount_threads()
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    v_miscounts bigint;
begin
    lock table entry in share row exclusive mode;
    v_miscounts := (select count(*) from find_miscounts());
    delete from thread_figure;
    insert into thread_figure (
        owner, thread_id, visibility, entries, from_users, multimodals, first_entry, last_entry, last_id, is_exact
    )
    select
        owner, thread_id, visibility, entries, from_users, multimodals, first_entry, last_entry, last_id, true
    from counted_figures();
    return v_miscounts;
end;
$$;

comment on function recount_threads is
'For the owner of the tables: counts every thread anew, while writers wait, and says how many figures were wrong.';
