"""Both backends side by side, for each of two deployments, and the profile of the random tests.

PGCONTEXT_TEST_EXAMPLES multiplies the number of random examples, which are then drawn anew in each run: for a
search that may take hours.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as random_settings
from psycopg import sql

from parity.twins import Twins, twins
from pgcontext.settings import Settings
from pgcontext.storage.postgres.installer import provision
from pgcontext.storage.postgres.store import PostgresStore
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.sqlite.util import to_micros
from support.options import options_for, settings_for
from support.postgres import LOGIN, OWNER, PostgresServer
from support.world import World, serving

DEPLOYMENTS: dict[str, dict[str, Any]] = {
    "default": {},
    "guarded": {
        "access_control_publish_role": "publisher",
        "access_control_anonymous_principal": "nobody",
        "access_control_default_group_grants": "author_groups",
        "metadata_indexed_fields": "status,references:object,technologies:array,n:float,done:boolean,b.a:string",
    },
}
_FACTOR = int(os.environ.get("PGCONTEXT_TEST_EXAMPLES", "1"))


def examples(count: int) -> random_settings:
    """Settings for a test with so many random examples in an ordinary run."""
    return random_settings(
        max_examples=count * _FACTOR,
        derandomize=_FACTOR == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


@pytest.fixture(scope="module", params=DEPLOYMENTS)
async def pair(
    request: pytest.FixtureRequest,
    make_store: Callable[..., Any],
    postgres: PostgresServer,
    database: Callable[[bool], str],
    sqlite_folder: Path,
) -> AsyncIterator[Twins]:
    """Both servers, with the settings of a deployment."""
    settings = settings_for(**DEPLOYMENTS[request.param])
    with psycopg.connect(postgres.database(database(True)), autocommit=True) as operator:

        def wipe_file() -> None:
            _run_on_file(sqlite_folder / "pgcontext.db", "delete from entry")

        def wipe_database() -> None:
            operator.execute("delete from pgcontext.entry")

        async with twins(
            settings,
            (make_store("sqlite", settings), wipe_file),
            (make_store("postgresql", settings), wipe_database),
        ) as both:
            yield both


@dataclass(frozen=True, slots=True)
class Variant:
    """A database as somebody may have created it: the end of CREATE DATABASE, and settings for every session."""

    options: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


VARIANTS = {
    "sqlite": None,
    "default": Variant(),
    "c": Variant("template template0 locale 'C'"),
    "builtin": Variant("template template0 locale_provider builtin builtin_locale 'C.UTF-8' locale 'C'"),
    "icu-turkish": Variant("template template0 locale_provider icu icu_locale 'tr-TR' locale 'C'"),
    "icu-german": Variant("template template0 locale_provider icu icu_locale 'de-DE-u-ks-level1' locale 'C'"),
    "libc-turkish": Variant("template template0 locale 'tr_TR.UTF-8'"),
    # and every index that can answer is used, however few the rows
    "tokyo": Variant(
        settings={
            "timezone": "Asia/Tokyo",
            "datestyle": "SQL, DMY",
            "intervalstyle": "iso_8601",
            "bytea_output": "escape",
            "enable_seqscan": "off",
        }
    ),
    "new-york": Variant(settings={"timezone": "America/New_York", "datestyle": "German"}),
}
INDEXED_FIELDS = (
    "status,references:object,technologies:array,n:float,k:integer,done:boolean,b.a:string,references.b.A:string"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A server on one of the databases, and a way to move the creation of an entry, which no tool can do."""

    world: World
    backdate: Callable[[str, datetime], None]


@pytest.fixture(scope="module", params=VARIANTS)
async def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    """SQLite, and PostgreSQL databases of several locales and settings; one that cannot be had is passed over."""
    settings = settings_for(metadata_indexed_fields=INDEXED_FIELDS)
    variant = VARIANTS[request.param]
    if variant is None:
        somewhere = _in_file(settings, tmp_path_factory.mktemp("place") / "pgcontext.db")
    else:
        somewhere = _in_database(settings, request.getfixturevalue("postgres"), variant)
    async with somewhere as found:
        yield found


@asynccontextmanager
async def _in_file(settings: Settings, path: Path) -> AsyncIterator[Place]:
    def backdate(entry_id: str, moment: datetime) -> None:
        _run_on_file(path, "update entry set created_at = ? where id = ?", to_micros(moment), entry_id)

    store = SqliteStore(path, settings.access_policy(), indexed_fields=settings.metadata_indexed_fields)
    async with serving(settings, store) as world:
        yield Place(world, backdate)


@asynccontextmanager
async def _in_database(settings: Settings, server: PostgresServer, variant: Variant) -> AsyncIterator[Place]:
    try:
        name = server.create_database(options=variant.options)
    except _NO_SUCH_DATABASE as error:
        pytest.skip(f"this PostgreSQL has no such database: {error}")
    for setting, value in variant.settings.items():
        statement = sql.SQL("alter database {} set {} to {}")
        server.execute(statement.format(sql.Identifier(name), sql.Identifier(setting), sql.Literal(value)))
    options = options_for(server.database(name, OWNER), True, settings)
    provision(options)
    store = PostgresStore(replace(options, conninfo=server.database(name, LOGIN)))
    with psycopg.connect(server.database(name), autocommit=True) as operator:

        def backdate(entry_id: str, moment: datetime) -> None:
            operator.execute("update pgcontext.entry set created_at = %s where id = %s", (moment, entry_id))

        async with serving(settings, store) as world:
            yield Place(world, backdate)
    server.drop_database(name)


_NO_SUCH_DATABASE = (
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.WrongObjectType,
    psycopg.errors.InvalidParameterValue,
    psycopg.errors.SyntaxError,
)


def _run_on_file(path: Path, statement: str, *values: Any) -> None:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(10_000)
    connection.execute("pragma foreign_keys = on")
    connection.execute(statement, values)
    connection.close()
