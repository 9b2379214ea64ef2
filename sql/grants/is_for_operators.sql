create or replace function is_for_operators(p_function name)
returns boolean
language sql
immutable
return p_function in (
    -- they tell who else may read an entry
    'entry_readers', 'entry_writers', 'explain_access',
    'map_login', 'unmap_login',
    'grant_server', 'grant_person', 'grant_reporter',
    'create_metadata_index', 'sync_metadata_indexes'
)
or p_function like 'report\_%';

comment on function is_for_operators is
'Whether a function of this schema is for its owner, or for pgcontext_reporter, and never for the server or for people.';
