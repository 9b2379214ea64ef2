"""Brings a database to this release: migrations, stored functions, indexes, roles, settings.

Tables change by versioned migrations; everything under `sql/` is repeatable, and a table keeps the digest of
each file that was run. All of it happens in one transaction under one advisory lock, so any number of servers
may start at once on an empty database, and a failure leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import scalar_row

from pgcontext.errors import StartRefused
from pgcontext.resources import resource_folder
from pgcontext.storage.migrations import apply_pending
from pgcontext.storage.postgres.options import REPORTER_ROLE, SERVER_ROLE, PostgresOptions

MINIMUM_VERSION = 15
FINGERPRINT = "release_fingerprint"
# rows of the table `setting` that say nothing about the deployment
_LOCK_SALT = "lock_salt"
_POLICY_DIGEST = "policy_digest"
# the language that the words of all chunks are in
_WORDS_LANGUAGE = "words_language"
_OWN_SETTINGS = [_LOCK_SALT, _POLICY_DIGEST, _WORDS_LANGUAGE]
_VARIANT_VERSION = 18

Connection = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One repeatable file: its path below `sql/`, its text and the text's SHA-256."""

    path: str
    text: str

    @property
    def name(self) -> str:
        """The object the file creates."""
        return Path(self.path).name.split(".")[0]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def sql_files(server_version: int) -> tuple[SqlFile, ...]:
    """The files for a server of this major version, in the order of installation."""
    folder = resource_folder("sql")
    lines = (folder / "install.order").read_text(encoding="utf-8").splitlines()
    return tuple(
        SqlFile(line, _variant(folder / line, server_version).read_text(encoding="utf-8"))
        for line in lines
        if line and not line.startswith("#")
    )


def _variant(path: Path, server_version: int) -> Path:
    newer = path.with_name(f"{path.stem}.{_VARIANT_VERSION}.sql")
    return newer if server_version >= _VARIANT_VERSION and newer.exists() else path


@cache
def release_fingerprint(server_version: int) -> str:
    """One digest over everything that is installed, migrations included."""
    digest = hashlib.sha256()
    for migration in sorted((resource_folder("migrations") / "postgresql").glob("*.sql")):
        digest.update(migration.name.encode())
    for file in sql_files(server_version):
        digest.update(f"{file.path} {file.sha256}\n".encode())
    return digest.hexdigest()


def provision(options: PostgresOptions) -> list[str]:
    """Install or upgrade, and store the deployment's settings; says what was done, one line each.

    Needs a login that owns the schema or may create it. Raises `StartRefused` when the server is too old,
    the login may not, or the indexes of METADATA_INDEXED_FIELDS are not as the strict mode wants them.
    """
    with psycopg.connect(options.conninfo, autocommit=False) as connection:
        version = _server_version(connection)
        _take_turn(connection, options)
        done = _install(connection, options, version)
        done += _sync_indexes(connection, options)
        is_complete = not _scalar(connection, _LACKS_CHUNKS, ()) and not _has_stale_words(connection, options)
        done += _store_settings(connection, options, version if is_complete else None)
        if is_complete:
            _note_language(connection, options)
        connection.commit()
        if not is_complete:
            done += _backfill(connection, options, version)
    return done


_LACKS_CHUNKS: LiteralString = """
    select exists (select from entry where not exists (select from chunk where chunk.entry_id = entry.id))
"""
_BACKFILL_BATCH = 200


def _backfill(connection: Connection, options: PostgresOptions, version: int) -> list[str]:
    """Give chunks to the entries that have none, and words to those with words of another language.

    A few in each transaction. Only then is the database at this release: what is interrupted goes on at the next
    start.
    """
    _take_turn(connection, options)
    steps: list[LiteralString] = ["select backfill_chunks(%s::uuid, %s)"]
    if _has_stale_words(connection, options):
        steps.insert(0, "select renew_words(%s::uuid, %s)")
    for step in steps:
        last: Any = "00000000-0000-0000-0000-000000000000"
        while last is not None:
            _take_turn(connection, options)
            last = _scalar(connection, step, (last, _BACKFILL_BATCH))
            connection.commit()
    _take_turn(connection, options)
    _store_settings(connection, options, version)
    _note_language(connection, options)
    connection.commit()
    return ["derived chunks and words of older entries for search"]


def _has_stale_words(connection: Connection, options: PostgresOptions) -> bool:
    query: LiteralString = "select exists (select from chunk) and setting_value(%s) is distinct from %s"
    return bool(_scalar(connection, query, (_WORDS_LANGUAGE, options.language)))


def _note_language(connection: Connection, options: PostgresOptions) -> None:
    connection.execute(
        "insert into setting (name, value) values (%s, %s) "
        "on conflict (name) do update set value = excluded.value",
        (_WORDS_LANGUAGE, options.language),
    )


def is_current(options: PostgresOptions) -> bool:
    """Whether the database is at this release with this deployment's settings; reads only."""
    with psycopg.connect(options.conninfo, autocommit=True) as connection:
        version = _server_version(connection)
        wanted = options.database_settings() | {FINGERPRINT: release_fingerprint(version)}
        try:
            connection.execute(
                "select set_config('role', rolname, false) from pg_catalog.pg_roles "
                f"where rolname = %s and {MAY_TAKE_ON}",
                (SERVER_ROLE,),
            )
            return stored_settings(connection, options.schema) == wanted
        except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
            return False


def ensure_current(options: PostgresOptions) -> list[str]:
    """Provision where that is needed and allowed; refuse the start where it is needed and not allowed."""
    if is_current(options):
        return []
    with psycopg.connect(options.conninfo, autocommit=True) as connection:
        may_provision = _scalar(connection, _MAY_PROVISION, (options.schema,))
        is_member = _scalar(connection, _IS_MEMBER, (SERVER_ROLE,))
    if may_provision:
        return provision(options)
    if options.row_level_security and is_member is False:
        raise StartRefused(NOT_A_MEMBER)
    raise StartRefused(
        f"Schema {options.schema} is missing, of another release, or holds other settings than this "
        "server's, and this login may not change that. Run 'pgcontext migrate' as the schema's owner, "
        "with this server's environment"
    )


NOT_A_MEMBER = (
    f"The database login may not take on the role {SERVER_ROLE}, so row-level security could not protect "
    f"anything: grant {SERVER_ROLE} to it"
)

# the schema's owner may, and where there is no schema, whoever may create one
_MAY_PROVISION: LiteralString = """
    select coalesce(
        (select pg_has_role(nspowner, 'usage') from pg_catalog.pg_namespace where nspname = %s),
        has_database_privilege(current_database(), 'create')
    )
"""
# since PostgreSQL 16 a membership can be for administration alone
MAY_TAKE_ON: LiteralString = (
    "pg_has_role(oid, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)"
)
# null where there is no such role yet
_IS_MEMBER: LiteralString = f"""
    select (select {MAY_TAKE_ON} from pg_catalog.pg_roles where rolname = %s)
"""


def _server_version(connection: Connection) -> int:
    version = connection.info.server_version // 10000
    if version < MINIMUM_VERSION:
        raise StartRefused(f"PostgreSQL {MINIMUM_VERSION} or newer is needed; this server is {version}")
    return version


def _take_turn(connection: Connection, options: PostgresOptions) -> None:
    connection.execute(
        "select set_config('lock_timeout', %s, true)", (f"{int(options.migration_timeout * 1000)}",)
    )
    connection.execute(
        "select pg_advisory_xact_lock(hashtextextended('pgcontext install ' || %s, 0))", (options.schema,)
    )
    connection.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(options.schema)))
    connection.execute(
        "select set_config('search_path', string_agg(quote_ident(place), ', ') || ', pg_temp', true) "
        "from unnest(%s::text[]) as place",
        ([options.schema, *_ensure_extensions(connection)],),
    )


_EXTENSIONS = ("pg_trgm", "vector")
_HAS_ITERATIVE_SCANS: LiteralString = """
    select string_to_array(extversion, '.')::integer[] >= '{0,8}'
    from pg_catalog.pg_extension
    where extname = 'vector'
"""


def _ensure_extensions(connection: Connection) -> list[str]:
    """Create the extensions that are missing; the schemas that hold them, for the search path of our functions.

    They belong to the whole database and may serve others too, so they get a schema of their own.
    """
    present = "select extname::text from pg_catalog.pg_extension where extname = any(%s)"
    missing = {*_EXTENSIONS} - {name for (name,) in connection.execute(present, (list(_EXTENSIONS),)).fetchall()}
    for name in sorted(missing):
        try:
            with connection.transaction():
                connection.execute("create schema if not exists pgcontext_extensions")
                connection.execute("grant usage on schema pgcontext_extensions to public")
                connection.execute(
                    sql.SQL("create extension {} with schema pgcontext_extensions").format(sql.Identifier(name))
                )
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported) as error:
            raise StartRefused(
                f"The database lacks the extension {name} and this login cannot create it: install it on the "
                f"server and run 'create extension {name}' as a superuser"
            ) from error
    if not _scalar(connection, _HAS_ITERATIVE_SCANS, ()):
        raise StartRefused("pgvector 0.8 or newer is needed: run 'alter extension vector update' as a superuser")
    rows = connection.execute(
        "select distinct extnamespace::regnamespace::name::text from pg_catalog.pg_extension "
        "where extname = any(%s) and extnamespace <> 'pg_catalog'::regnamespace order by 1",
        (list(_EXTENSIONS),),
    ).fetchall()
    return [schema for (schema,) in rows]


def _install(connection: Connection, options: PostgresOptions, version: int) -> list[str]:
    migrated = apply_pending(connection, resource_folder("migrations") / "postgresql")
    done = [f"applied migration {name}" for name in migrated]
    files = sql_files(version)
    installed = dict(connection.execute("select path, sha256 from installed_file").fetchall())
    # views and function bodies are bound to the tables as they were, so a migration renews them all
    changed = [file for file in files if migrated or installed.get(file.path) != file.sha256]
    gone = installed.keys() - {file.path for file in files}
    if changed or gone:
        if gone or not _run_in_place(connection, changed):
            _drop_repeatable(connection, [SqlFile(path, "").name for path in installed])
            for file in files:
                _run(connection, file)
        _record_files(connection, files)
        done.append(f"installed {len(changed)} of {len(files)} SQL files")
    _grant(connection, options)
    _settle_policies(connection, files)
    connection.execute(
        "insert into setting (name, value) values (%s, gen_random_uuid()) on conflict do nothing", (_LOCK_SALT,)
    )
    return done


def _settle_policies(connection: Connection, files: tuple[SqlFile, ...]) -> None:
    """Put our policies back where somebody changed them, and note what they say now."""
    unchanged = "select policy_digest() = setting_value(%s)"
    if _scalar(connection, unchanged, (_POLICY_DIGEST,)):
        return
    for file in files:
        if file.name == "policies":
            _run(connection, file)
    connection.execute(
        "insert into setting (name, value) values (%s, policy_digest()) "
        "on conflict (name) do update set value = excluded.value",
        (_POLICY_DIGEST,),
    )


class _SignatureChanged(Exception):
    """A function changed its arguments, so that the old one still stands beside the new one."""


def _run_in_place(connection: Connection, files: list[SqlFile]) -> bool:
    """Run the files over what is there; False, with nothing done, where a signature changed."""
    try:
        with connection.transaction():
            for file in files:
                _run(connection, file)
            if _scalar(connection, _OVERLOADED, ()):
                raise _SignatureChanged
    except (
        _SignatureChanged,
        psycopg.errors.AmbiguousFunction,
        psycopg.errors.InvalidFunctionDefinition,
        psycopg.errors.InvalidTableDefinition,
    ):
        return False
    return True


_OVERLOADED: LiteralString = """
    select exists (
        select from pg_catalog.pg_proc
        where pronamespace = current_schema()::regnamespace
        group by proname
        having count(*) > 1
    )
"""


def _run(connection: Connection, file: SqlFile) -> None:
    connection.execute(file.text)


def _record_files(connection: Connection, files: tuple[SqlFile, ...]) -> None:
    connection.execute("delete from installed_file")
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into installed_file (path, sha256) values (%s, %s)",
            [(file.path, file.sha256) for file in files],
        )


def _drop_repeatable(connection: Connection, names: list[str]) -> None:
    """Drop our policies, triggers, views and functions; what others built on them stops it with an error."""
    statements = connection.execute(
        """
        with ours as (
            select oid, oid::regprocedure::text as signature
            from pg_catalog.pg_proc
            where pronamespace = current_schema()::regnamespace and proname = any(%(names)s)
        )

        select format('drop policy %%I on %%I', polname, relname)
        from pg_catalog.pg_policy
        inner join pg_catalog.pg_class on pg_class.oid = polrelid
        where relnamespace = current_schema()::regnamespace and starts_with(polname, relname || '_')
        union all
        select format('drop trigger %%I on %%I', tgname, relname)
        from pg_catalog.pg_trigger
        inner join pg_catalog.pg_class on pg_class.oid = tgrelid
        inner join ours on ours.oid = tgfoid
        union all
        select format('drop view %%I', relname)
        from pg_catalog.pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'v' and relname = any(%(names)s)
        union all
        select 'drop function ' || string_agg(signature, ', ') from ours having count(*) > 0
        """,
        {"names": names},
    ).fetchall()
    for (statement,) in statements:
        connection.execute(statement)


def _grant(connection: Connection, options: PostgresOptions) -> None:
    schema = sql.Identifier(options.schema)
    connection.execute(sql.SQL("revoke all on all tables in schema {} from public").format(schema))
    connection.execute(sql.SQL("revoke all on all functions in schema {} from public").format(schema))
    connection.execute(
        "select grant_person(login::name) from database_login where to_regrole(quote_ident(login)) is not null"
    )
    # a deployment can do without anybody who reports
    with suppress(psycopg.errors.InsufficientPrivilege):
        _ensure_role(connection, REPORTER_ROLE)
        connection.execute("select grant_reporter(%s)", (REPORTER_ROLE,))
    if options.row_level_security:
        _ensure_server_role(connection)
        connection.execute("select grant_server(%s)", (SERVER_ROLE,))


def _ensure_role(connection: Connection, name: str) -> None:
    """Roles belong to the whole cluster: another database's installation may create it at this moment."""
    if _scalar(connection, "select exists (select from pg_roles where rolname = %s)", (name,)):
        return
    with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation), connection.transaction():
        role = sql.Identifier(name)
        connection.execute(sql.SQL("create role {} nologin").format(role))
        # so that a server may also run as the login that installed
        connection.execute(sql.SQL("grant {} to current_user").format(role))


def _ensure_server_role(connection: Connection) -> None:
    try:
        _ensure_role(connection, SERVER_ROLE)
    except psycopg.errors.InsufficientPrivilege as error:
        raise StartRefused(
            f"Role {SERVER_ROLE} does not exist and this login may not create it. Create it (create role "
            f"{SERVER_ROLE} nologin), or set ENABLE_POSTGRESQL_RLS=false where roles cannot be had"
        ) from error


def _sync_indexes(connection: Connection, options: PostgresOptions) -> list[str]:
    rows = connection.execute(
        "select field, action from sync_metadata_indexes(%s::jsonb, %s)",
        (json.dumps(dict(options.indexed_fields)), options.index_sync_mode),
    ).fetchall()
    report = [f"index on metadata field {field}: {action}" for field, action in rows]
    if report and options.index_sync_mode == "strict":
        raise StartRefused(
            "METADATA_INDEX_SYNC_MODE=strict and the indexes differ from METADATA_INDEXED_FIELDS: "
            + "; ".join(report)
        )
    return report


def _store_settings(connection: Connection, options: PostgresOptions, version: int | None) -> list[str]:
    """Store the deployment's settings, and unless the version is None, that the database is at this release."""
    wanted = options.database_settings()
    if version is not None:
        wanted[FINGERPRINT] = release_fingerprint(version)
    if stored_settings(connection, options.schema) == wanted:
        return []
    connection.execute("delete from setting where name <> all(%s)", (_OWN_SETTINGS,))
    with connection.cursor() as cursor:
        cursor.executemany("insert into setting (name, value) values (%s, %s)", list(wanted.items()))
    return ["stored the deployment's settings"]


def stored_settings(connection: Connection, schema: str) -> dict[str, str]:
    """What the operator decided for the deployment, and the fingerprint of the release that is installed."""
    query = sql.SQL("select name, value from {}.setting where name <> all(%s)").format(sql.Identifier(schema))
    return dict(connection.execute(query, (_OWN_SETTINGS,)).fetchall())


def _scalar(connection: Connection, query: LiteralString, parameters: tuple[Any, ...]) -> Any:
    return connection.cursor(row_factory=scalar_row).execute(query, parameters).fetchone()
