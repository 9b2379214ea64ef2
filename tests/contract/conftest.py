"""Fixtures of the contract tests: one database for the whole folder, other settings, other times."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw
import psycopg
import pytest

from contract.helpers import Backdate, OnStorage, ServeWith
from support.options import settings_for
from support.postgres import PostgresServer
from support.world import World, serving

Clone = Callable[[bool], str]


@pytest.fixture(scope="session")
def database(postgres: PostgresServer, templates: Clone) -> Iterator[Clone]:
    """The databases of this folder; tests begin by emptying them, so that all modules can share them."""
    names: dict[bool, str] = {}

    def clone(row_level_security: bool = True) -> str:
        if row_level_security not in names:
            names[row_level_security] = postgres.create_database(templates(row_level_security))
        return names[row_level_security]

    yield clone
    for name in names.values():
        postgres.drop_database(name)


@pytest.fixture(scope="session")
def operator(postgres: PostgresServer, database: Clone) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """Superuser connections to the databases of this folder, by storage mode."""
    connections: dict[str, psycopg.Connection[Any]] = {}

    def connect(mode: str) -> psycopg.Connection[Any]:
        if mode not in connections:
            dsn = postgres.database(database(mode == "postgresql"))
            connections[mode] = psycopg.connect(dsn, autocommit=True)
        return connections[mode]

    yield connect
    for connection in connections.values():
        connection.close()


@pytest.fixture
def on_storage(mode: str, request: pytest.FixtureRequest) -> OnStorage:
    """Runs a statement on the storage itself: the SQL of SQLite, the SQL of PostgreSQL, their parameters."""

    def sqlite(statement: str, _postgresql: str, *parameters: Any) -> None:
        connection = apsw.Connection(str(request.getfixturevalue("sqlite_folder") / "pgcontext.db"))
        connection.set_busy_timeout(10_000)
        connection.execute("pragma foreign_keys = on")
        connection.execute(statement, parameters)
        connection.close()

    def postgresql(_sqlite: str, statement: str, *parameters: Any) -> None:
        request.getfixturevalue("operator")(mode).execute(statement, parameters)

    return sqlite if mode == "sqlite" else postgresql


@pytest.fixture
def wipe(on_storage: OnStorage) -> Callable[[], None]:
    """Deletes every entry; for a handful of them that is much faster than a truncation."""
    return lambda: on_storage("delete from entry", "delete from pgcontext.entry")


@pytest.fixture
def serve_with(mode: str, make_store: Callable[..., Any], wipe: Callable[[], None]) -> ServeWith:
    """Starts a server with other settings over an empty store, as a context manager."""

    @asynccontextmanager
    async def start(**values: Any) -> AsyncIterator[World]:
        settings = settings_for(**values)
        async with serving(settings, make_store(mode, settings)) as world:
            wipe()
            yield world

    return start


@pytest.fixture
def backdate(mode: str, on_storage: OnStorage) -> Backdate:
    """Moves the creation of an entry to another time, which no tool can do."""

    def move(entry_id: str, moment: str) -> None:
        time = datetime.fromisoformat(moment)
        micros = (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        on_storage(
            "update entry set created_at = ? where id = ?",
            "update pgcontext.entry set created_at = %s where id = %s",
            micros if mode == "sqlite" else time,
            entry_id,
        )

    return move
