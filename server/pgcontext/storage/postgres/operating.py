"""What an operator asks of a PostgreSQL deployment, with the operator's own connection."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from pgcontext.errors import EntryNotFound, StartRefused
from pgcontext.resources import resource_folder
from pgcontext.storage.operating import AccessRule, Finding
from pgcontext.storage.postgres.adapters import TimestampLoader
from pgcontext.storage.postgres.installer import (
    FINGERPRINT,
    MAY_TAKE_ON,
    MINIMUM_VERSION,
    NOT_A_MEMBER,
    release_fingerprint,
    stored_settings,
)
from pgcontext.storage.postgres.options import SERVER_ROLE, PostgresOptions

Connection = psycopg.Connection[Any]
_MIGRATE = "run pgcontext migrate as the owner of the schema, with this environment"
_INDEX = re.compile(r"^create (?:unique )?index ([a-z_0-9]+)", re.MULTILINE)
_DROPPED_INDEX = re.compile(r"^drop index (?:if exists )?([a-z_0-9]+)", re.MULTILINE)


def explain_access(
    options: PostgresOptions, entry_id: str, principal: str, groups: Sequence[str]
) -> list[AccessRule]:
    """Why a principal with these groups may do what it may do to an entry; empty where nothing lets it.

    Raises `EntryNotFound`, and `StartRefused` for a login that is no operator's.
    """
    query = sql.SQL("select * from {}(%s, %s, %s)").format(sql.Identifier(options.schema, "explain_access"))
    with psycopg.connect(options.conninfo, autocommit=True) as connection:
        connection.adapters.register_loader("timestamptz", TimestampLoader)
        try:
            rows = connection.execute(query, (entry_id, principal, list(groups)), binary=True).fetchall()
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused("This takes the login that owns the tables, or a superuser") from error
        except psycopg.Error as error:
            if error.sqlstate == EntryNotFound.sqlstate:
                raise EntryNotFound(entry_id) from error
            raise
    return [AccessRule(*row) for row in rows]


def examine(options: PostgresOptions) -> list[Finding]:
    """What is wrong with a deployment as this environment's login finds it, the worst first."""
    try:
        connection = psycopg.connect(options.conninfo, autocommit=True)
    except psycopg.OperationalError as error:
        return [
            Finding("error", "connection", f"cannot connect: {error}", "correct POSTGRESQL_… or start the server")
        ]
    with connection:
        try:
            findings = list(_findings(connection, options))
        except psycopg.errors.InsufficientPrivilege as error:
            fault = f"this login may not look at schema {options.schema}: {error.diag.message_primary}"
            findings = [Finding("error", "roles", fault, f"grant {SERVER_ROLE} to the server's login")]
    order = ("error", "warning", "note")
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _findings(connection: Connection, options: PostgresOptions) -> Iterator[Finding]:
    version = connection.info.server_version // 10000
    if version < MINIMUM_VERSION:
        fault = f"PostgreSQL is version {version}, and {MINIMUM_VERSION} is the oldest that will do"
        yield Finding("error", "version", fault, "upgrade PostgreSQL")
        return
    if _row(connection, "select to_regclass(format('%%I.entry', %s::text))", options.schema) == (None,):
        yield Finding("error", "installation", f"schema {options.schema} holds no installation", _MIGRATE)
        return
    connection.execute(
        "select set_config('search_path', quote_ident(%s) || ', pg_temp', false)", (options.schema,)
    )
    yield from _about_the_release(connection, options, version)
    yield from _about_the_login(connection, options)
    yield from _about_indexes(connection, options)
    try:
        faults = connection.execute("select severity, area, fault, remedy from report_faults()").fetchall()
    except psycopg.errors.InsufficientPrivilege:
        fault = "this login may not look further"
        yield Finding("note", "doctor", fault, "run pgcontext doctor once more as the owner of the tables")
    except psycopg.errors.UndefinedFunction:
        # an older release, which was told above
        return
    else:
        yield from (Finding(*row) for row in faults)


def _about_the_release(connection: Connection, options: PostgresOptions, version: int) -> Iterator[Finding]:
    try:
        with connection.transaction():
            connection.execute(
                "select set_config('role', rolname, true) from pg_catalog.pg_roles "
                f"where rolname = %s and {MAY_TAKE_ON}",
                (SERVER_ROLE,),
            )
            stored = stored_settings(connection, options.schema)
    except psycopg.errors.InsufficientPrivilege:
        fault = "this login may not read the deployment's settings"
        yield Finding("error", "settings", fault, f"grant {SERVER_ROLE} to it")
        return
    if stored.pop(FINGERPRINT, None) != release_fingerprint(version):
        yield Finding("error", "installation", "the database is of another release than this program", _MIGRATE)
    wanted = options.database_settings()
    for name in sorted(stored.keys() | wanted.keys()):
        if stored.get(name) != wanted.get(name):
            fault = (
                f"setting {name} is {stored.get(name)} in the database and {wanted.get(name)} in the environment"
            )
            yield Finding("error", "settings", fault, f"correct the environment, or {_MIGRATE}")


def _about_the_login(connection: Connection, options: PostgresOptions) -> Iterator[Finding]:
    if not options.row_level_security:
        fault = "ENABLE_POSTGRESQL_RLS is false, so the first wall stands alone"
        yield Finding("note", "policies", fault, "switch it on wherever the database allows roles")
        return
    try:
        with connection.transaction():
            connection.execute("select begin_request('-')")
            faults = connection.execute("select fault from list_wall_faults()").fetchall()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue):
        yield Finding("error", "roles", NOT_A_MEMBER, f"grant {SERVER_ROLE} to the server's login")
        return
    for (fault,) in faults:
        yield Finding("error", "policies", fault, f"undo it; for the policies, {_MIGRATE}")


def _about_indexes(connection: Connection, options: PostgresOptions) -> Iterator[Finding]:
    """Indexes of the migrations and on metadata fields that are not there."""
    present = {
        name
        for (name,) in connection.execute(
            "select indexname from pg_catalog.pg_indexes where schemaname = %s", (options.schema,)
        )
    }
    for name in sorted(_indexes_of_migrations() - present):
        yield Finding("error", "indexes", f"index {name} is missing", "create it as its migration does")
    try:
        with connection.transaction(force_rollback=True):
            differing = connection.execute(
                "select field, action from sync_metadata_indexes(%s::jsonb, 'warn')",
                (json.dumps(dict(options.indexed_fields)),),
            ).fetchall()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction):
        return
    for field, action in differing:
        fault = f"the index on metadata field {field} is {action}"
        yield Finding("warning", "indexes", fault, f"correct METADATA_INDEXED_FIELDS, or {_MIGRATE}")


def _indexes_of_migrations() -> set[str]:
    names: set[str] = set()
    for path in sorted((resource_folder("migrations") / "postgresql").glob("*.sql")):
        if not path.name.endswith(".rollback.sql"):
            text = path.read_text(encoding="utf-8")
            names = (names | set(_INDEX.findall(text))) - set(_DROPPED_INDEX.findall(text))
    return names


def _row(connection: Connection, query: LiteralString, *parameters: Any) -> tuple[Any, ...] | None:
    return connection.execute(query, parameters).fetchone()
