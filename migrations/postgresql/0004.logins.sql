-- Whom the database logins of people stand for.
-- depends: 0001.entries

create table database_login (
    -- the name of a role: it survives a dump, which a role's number would not
    login text collate "C" primary key,
    principal text collate "C" not null check (principal <> ''),
    groups text[] collate "C" not null check (array_position(groups, null) is null),
    roles text[] collate "C" not null check (array_position(roles, null) is null)
);
