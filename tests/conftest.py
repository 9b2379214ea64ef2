"""Fixtures: a PostgreSQL server for the run, a database per module, a store and a server per storage mode.

The three storage modes of the product are `sqlite`, `postgresql` (both walls: the server's login owns nothing
and row-level security binds it) and `postgresql-first-wall` (row-level security off, the login owns the tables).
A test that takes `world` or `store` runs once in each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgcontext.settings import Settings
from pgcontext.storage.postgres.installer import provision
from pgcontext.storage.postgres.store import PostgresStore
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.store import Store
from support.options import options_for, settings_for
from support.postgres import LOGIN, OWNER, PostgresServer, running_server
from support.world import World, serving

MODES = ("sqlite", "postgresql", "postgresql-first-wall")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The PostgreSQL server of this run."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def templates(postgres: PostgresServer) -> Callable[[bool], str]:
    """Databases with everything installed, with and without row-level security, to be cloned."""
    names: dict[bool, str] = {}

    def template(row_level_security: bool) -> str:
        if row_level_security not in names:
            name = names[row_level_security] = postgres.create_database()
            provision(options_for(postgres.database(name, OWNER), row_level_security))
        return names[row_level_security]

    return template


@pytest.fixture(scope="module")
def database(postgres: PostgresServer, templates: Callable[[bool], str]) -> Iterator[Callable[[bool], str]]:
    """Clones of the templates for one module, by whether they use row-level security; dropped afterwards."""
    names: dict[bool, str] = {}

    def clone(row_level_security: bool = True) -> str:
        if row_level_security not in names:
            names[row_level_security] = postgres.create_database(templates(row_level_security))
        return names[row_level_security]

    yield clone
    for name in names.values():
        postgres.drop_database(name)


StoreFactory = Callable[..., Store]


@pytest.fixture(scope="module")
def make_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoreFactory:
    """Makes the store of a storage mode, on this module's data, for any settings."""

    def make(mode: str, settings: Settings | None = None, **options: Any) -> Store:
        settings = settings or settings_for()
        if mode == "sqlite":
            folder: Path = request.getfixturevalue("sqlite_folder")
            return SqliteStore(
                folder / "pgcontext.db",
                settings.access_policy(),
                indexed_fields=settings.metadata_indexed_fields,
                language=settings.fts_language,
            )
        row_level_security = mode == "postgresql"
        server: PostgresServer = request.getfixturevalue("postgres")
        name = request.getfixturevalue("database")(row_level_security)
        owner = options_for(server.database(name, OWNER), row_level_security, settings)
        provision(owner)
        login = LOGIN if row_level_security else OWNER
        return PostgresStore(replace(owner, conninfo=server.database(name, login), **options))

    return make


@pytest.fixture(scope="module")
def sqlite_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of this module's SQLite file."""
    return tmp_path_factory.mktemp("sqlite")


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """The storage mode that a test runs in."""
    return str(request.param)


@pytest.fixture(scope="module")
async def module_world(mode: str, make_store: StoreFactory) -> AsyncIterator[World]:
    """One server for a module and a storage mode, with the default settings."""
    settings = settings_for()
    async with serving(settings, make_store(mode, settings)) as world:
        yield world


@pytest.fixture
def wipe(request: pytest.FixtureRequest, mode: str) -> Callable[[], None]:
    """Empties this module's storage in the present mode."""

    def sqlite() -> None:
        import apsw

        connection = apsw.Connection(str(request.getfixturevalue("sqlite_folder") / "pgcontext.db"))
        connection.set_busy_timeout(10_000)
        connection.execute("pragma foreign_keys = on; delete from entry")
        connection.close()

    def postgresql() -> None:
        name = request.getfixturevalue("database")(mode == "postgresql")
        with psycopg.connect(request.getfixturevalue("postgres").database(name)) as connection:
            connection.execute("delete from pgcontext.entry")

    return sqlite if mode == "sqlite" else postgresql


@pytest.fixture
def world(module_world: World, wipe: Callable[[], None]) -> World:
    """A server over an empty store."""
    wipe()
    return module_world
