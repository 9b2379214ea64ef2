"""What an operator asks of a SQLite file: whether it is well, and why somebody may read an entry.

The file is only read, so that asking changes nothing and creates nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from pgcontext.errors import EntryNotFound, StartRefused
from pgcontext.resources import resource_folder
from pgcontext.storage.operating import AccessRule, Finding
from pgcontext.storage.sqlite.filters import sync_metadata_indexes
from pgcontext.storage.sqlite.util import to_json
from pgcontext.storage.values import AccessPolicy
from pgcontext.text.dates import format_timestamp

_MIGRATE = "run pgcontext migrate"


def explain_access(
    path: str | os.PathLike[str], policy: AccessPolicy, entry_id: str, principal: str, groups: Sequence[str]
) -> list[AccessRule]:
    """Why a principal with these groups may do what it may do to an entry; empty where nothing lets it.

    Raises `EntryNotFound`, and `StartRefused` for a file that cannot be read.
    """
    connection = _open(path)
    try:
        found = connection.execute("select 1 from entry where id = ?", (entry_id,)).fetchall()
        rows: list[tuple[Any, ...]] = connection.execute(
            _RULES,
            {
                "id": entry_id,
                "principal": principal,
                "groups": to_json(groups),
                "anonymous": policy.anonymous_principal,
            },
        ).fetchall()
    finally:
        connection.close()
    if not found:
        raise EntryNotFound(entry_id)
    return [
        AccessRule(permission, rule, through, granted_by, None if since is None else format_timestamp(since))
        for permission, rule, through, granted_by, since in rows
    ]


# twin of sql/access/explain_access.sql
_RULES = """
    with held (place, permission) as (values (1, 'read'), (2, 'write'), (3, 'own')),

    rules as (
        select held.place, held.permission, 'owner' as rule, entry.owner as through, null as granted_by,
            entry.created_at as since
        from entry cross join held
        where entry.id = :id and entry.owner = :principal
        union all
        select 1, 'read', 'public', null, null, null
        from entry
        where entry.id = :id and entry.visibility = 'public'
        union all
        select held.place, held.permission, 'grant to ' || entry_grant.principal_type, entry_grant.principal_id,
            entry_grant.granted_by, min(entry_grant.created_at)
        from entry_grant
        cross join held
        where
            entry_grant.entry_id = :id
            and held.permission <> 'own'
            and entry_grant.permission in (held.permission, 'write')
            and (
                entry_grant.principal_type = 'user' and entry_grant.principal_id = :principal
                or entry_grant.principal_type = 'group'
                and entry_grant.principal_id in (select value from json_each(:groups))
            )
        group by held.place, entry_grant.principal_type, entry_grant.principal_id
    )

    select permission, rule, through, granted_by, since
    from rules
    where permission = 'read' or :principal is not :anonymous
    order by place, rule, through
"""


def examine(path: str | os.PathLike[str], indexed_fields: Mapping[str, str]) -> list[Finding]:
    """What is wrong with a file, the worst first."""
    try:
        connection = _open(path)
    except StartRefused as error:
        return [Finding("error", "file", str(error), f"{_MIGRATE} to create it, or correct DB_PATH")]
    try:
        findings = list(_findings(connection, Path(path), indexed_fields))
    except apsw.Error as error:
        findings = [Finding("error", "file", f"the file cannot be read: {error}", "restore it from a copy")]
    finally:
        connection.close()
    order = ("error", "warning", "note")
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _findings(connection: apsw.Connection, path: Path, indexed_fields: Mapping[str, str]) -> Iterator[Finding]:
    for (fault,) in connection.execute("pragma quick_check(5)"):
        if fault != "ok":
            yield Finding("error", "file", str(fault), "restore the file from a copy")
    tables = {str(name) for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}
    if "entry" not in tables or "_yoyo_migration" not in tables:
        yield Finding("error", "installation", "the file holds no installation", _MIGRATE)
        return
    applied = {str(name) for (name,) in connection.execute("select migration_id from _yoyo_migration")}
    for name in sorted(_migrations() - applied):
        yield Finding("error", "installation", f"migration {name} is missing", _MIGRATE)
    for table, row_id, parent, _ in connection.execute("pragma foreign_key_check"):
        fault = f"row {row_id} of table {table} belongs to no row of {parent}"
        yield Finding("error", "file", fault, "restore the file from a copy, or delete the row")
    if connection.pragma("journal_mode") != "wal":
        yield Finding("warning", "file", "the write-ahead log is off", "start the server, which switches it on")
    for field, action in sync_metadata_indexes(connection, indexed_fields, "warn"):
        fault = f"the index on metadata field {field} is {action}"
        yield Finding("warning", "indexes", fault, f"correct METADATA_INDEXED_FIELDS, or {_MIGRATE}")
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        fault = "others on this machine may read the file, and all that is in it"
        yield Finding("warning", "file", fault, f"chmod 600 {path}")


def _migrations() -> set[str]:
    paths = (resource_folder("migrations") / "sqlite").glob("*.sql")
    return {path.stem for path in paths if not path.name.endswith(".rollback.sql")}


def _open(path: str | os.PathLike[str]) -> apsw.Connection:
    try:
        connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(10_000)
        connection.execute("select count(*) from sqlite_schema")
    except apsw.Error as error:
        raise StartRefused(f"The database file {path} cannot be opened: {error}") from error
    return connection
