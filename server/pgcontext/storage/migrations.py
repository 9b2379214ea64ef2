"""Versioned migrations of both backends, run by yoyo on a connection that the caller holds.

yoyo wants to own its connections: it opens one per migration, commits on it, and keeps other processes out with
a row in a lock table. Here the caller has connected, has begun the transaction, and holds a lock that ends with
it, so that migrations and everything installed after them succeed or fail together.
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import apsw
import psycopg
from psycopg.rows import tuple_row
from yoyo import internalmigrations
from yoyo.backends.base import DatabaseBackend
from yoyo.exceptions import BadMigration
from yoyo.migrations import MigrationList, read_migrations

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]

# yoyo resolves the names after `depends:` through one table per process, in which the migrations of the two
# backends have the same names
_reading = threading.Lock()


def apply_pending(connection: psycopg.Connection[Any] | apsw.Connection, folder: Path) -> list[str]:
    """Apply the migrations of a folder that the database does not have yet; their ids, in order.

    Runs inside the transaction that the caller has begun and neither commits nor rolls back: when a migration
    fails, its error is raised and the caller must roll back. The caller also keeps other processes out, by an
    advisory lock or an immediate transaction. On PostgreSQL everything, yoyo's own tables included, lands in
    the first schema of the search path.
    """
    kind = _PsycopgBackend if isinstance(connection, psycopg.Connection) else _ApswBackend
    backend = kind(connection)
    backend.ensure_internal_schema_updated()
    pending = backend.to_apply(_load(folder))
    for migration in pending:
        backend.apply_one(migration)
    return [migration.id for migration in pending]


def _load(folder: Path) -> MigrationList:
    with _reading:
        migrations = read_migrations(str(folder))
        for migration in migrations:
            migration.load()
    if not migrations:
        raise FileNotFoundError(f"There are no migrations in {folder}")
    return migrations


class _Cursor:
    """The cursor that yoyo sees.

    It reads every result at once, because an open one would block DDL on SQLite. It describes no columns,
    because yoyo prints what a migration selects to standard output, which may carry a protocol.
    """

    description = None

    def __init__(self, run: Callable[[str, Parameters], list[Row]]) -> None:
        self._run = run
        self._rows: Iterator[Row] = iter(())

    def execute(self, query: str, parameters: Parameters | None = None) -> None:
        self._rows = iter(self._run(query, parameters or {}))

    def fetchone(self) -> Row | None:
        return next(self._rows, None)

    def fetchall(self) -> list[Row]:
        return list(self._rows)

    def close(self) -> None:
        self._rows = iter(())


class _GivenConnection(DatabaseBackend):  # type: ignore[misc]
    """A yoyo backend that works on one given connection and leaves transactions and locks to the caller."""

    tables_query: ClassVar[str]

    def __init__(self, connection: Any) -> None:
        # the base class would connect here
        self._connection = connection
        self.migration_table = "_yoyo_migration"
        self.has_transactional_ddl = True
        self.DatabaseError = self.driver.DatabaseError

    def run(self, query: str, parameters: Parameters) -> list[Row]:
        """Run one statement; its rows, none for a statement that returns none."""
        raise NotImplementedError

    def cursor(self) -> _Cursor:
        return _Cursor(self.run)

    def list_tables(self, **_: Any) -> list[str]:
        return [name for (name,) in self.run(self.tables_query, {})]

    def copy(self) -> _GivenConnection:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the connection open."""

    def transaction(self, rollback_on_exit: bool = False) -> AbstractContextManager[None]:
        return nullcontext()

    def disable_transactions(self) -> AbstractContextManager[None]:
        raise BadMigration("A migration cannot run outside the transaction of the installation")

    def ensure_internal_schema_updated(self) -> None:
        if internalmigrations.needs_upgrading(self):
            internalmigrations.upgrade(self)

    def get_log_data(self, migration: Any, operation: str = "apply") -> dict[str, Any]:
        """A row of yoyo's log. The base class asks the DNS for the host's full name, and fails for a user id
        that has no name, as in many containers."""
        return {
            "id": str(uuid.uuid4()),
            "migration_id": migration.id,
            "migration_hash": migration.hash,
            "username": f"uid {os.getuid()}" if hasattr(os, "getuid") else "",
            "hostname": socket.gethostname(),
            "created_at_utc": datetime.now(UTC).replace(tzinfo=None),
            "operation": operation,
        }


class _PsycopgBackend(_GivenConnection):
    driver = psycopg
    tables_query = "select table_name from information_schema.tables where table_schema = current_schema()"

    def run(self, query: str, parameters: Parameters) -> list[Row]:
        with self._connection.cursor(row_factory=tuple_row) as cursor:
            # without parameters a percent sign is just that
            cursor.execute(query, parameters or None)
            return cursor.fetchall() if cursor.description else []


class _ApswBackend(_GivenConnection):
    driver = SimpleNamespace(DatabaseError=apsw.Error, paramstyle="named")
    tables_query = "select name from sqlite_schema where type = 'table'"

    def run(self, query: str, parameters: Parameters) -> list[Row]:
        plain = {
            name: value.isoformat(sep=" ") if isinstance(value, datetime) else value
            for name, value in parameters.items()
        }
        rows: list[Row] = self._connection.execute(query, plain).fetchall()
        return rows
