create or replace function holds_words(p_entry_id uuid, p_words tsquery)
returns boolean
language sql
stable
strict
begin atomic
    select exists(
        select from chunk where chunk.entry_id = p_entry_id and chunk.words @@ p_words
    );
end;

comment on function holds_words is
'Whether any chunk of an entry matches a tsquery. A function and no sub-select in the query, so that the planner can only look the entry up.';
