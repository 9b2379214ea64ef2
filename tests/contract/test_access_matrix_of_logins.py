"""The access matrix once more, with a database login for every kind of caller in place of the server's.

The tools are the genuine ones; what they call in the database runs as the login of the person who calls, without
begin_request() and without any other connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from typing import Any, TypeVar

import psycopg
import pytest

from contract.matrix import (
    ACTIONS,
    CALLERS,
    GROUPS,
    Scene,
    observe,
    person,
)
from pgcontext.principal import Principal
from pgcontext.storage.postgres.installer import provision
from pgcontext.storage.postgres.options import PostgresOptions
from pgcontext.storage.postgres.store import PostgresStore
from support.acting import Connection, rows
from support.logins import PersonStore, person_login
from support.options import options_for, settings_for
from support.postgres import OWNER, PostgresServer
from support.world import World, serving

T = TypeVar("T")
SEES = {"shown", "merged"}


class StoreOfLogins(PostgresStore):
    """Passes each call on to the store of its caller's own login."""

    def __init__(self, options: PostgresOptions, logins: dict[str, str]) -> None:
        super().__init__(options)
        self._stores = {
            who: PersonStore(replace(options, conninfo=conninfo, pool_max=2)) for who, conninfo in logins.items()
        }

    async def open(self) -> None:
        for store in self._stores.values():
            await store.open()

    async def close(self) -> None:
        for store in self._stores.values():
            await store.close()

    async def _call(
        self, caller: Principal, function: str, arguments: tuple[Any, ...], make: Callable[..., T]
    ) -> list[T]:
        return await self._stores[caller.id]._call(caller, function, arguments, make)


@pytest.fixture(scope="module")
def name(postgres: PostgresServer, database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def logins(postgres: PostgresServer, name: str) -> Iterator[dict[str, str]]:
    """A connection string for every kind of caller; the logins are called otherwise than the principals."""
    with ExitStack() as stack:
        yield {
            who: stack.enter_context(
                person_login(postgres, name, f"pgcontext_test_l{number}", who, GROUPS.get(who, ()))
            )
            for number, who in enumerate(CALLERS)
        }


@pytest.fixture(scope="module")
async def world_of_logins(postgres: PostgresServer, name: str, logins: dict[str, str]) -> AsyncIterator[World]:
    settings = settings_for(access_control_anonymous_principal="anonymous")
    options = options_for(postgres.database(name, OWNER), True, settings)
    provision(options)
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(serving(settings, StoreOfLogins(options, logins)))


@pytest.fixture
def empty_table(postgres: PostgresServer, name: str) -> None:
    postgres.execute("delete from pgcontext.entry", name)


@pytest.fixture(scope="module")
def connections(logins: dict[str, str]) -> Iterator[dict[str, Connection]]:
    with ExitStack() as stack:
        yield {
            who: stack.enter_context(psycopg.connect(conninfo, autocommit=True))
            for who, conninfo in logins.items()
        }


@pytest.mark.parametrize("visibility", ("private", "public"))
@pytest.mark.parametrize("name_of_action", ACTIONS)
async def test_every_login_gets_what_the_access_rules_say(
    world_of_logins: World, empty_table: None, name_of_action: str, visibility: str
) -> None:
    action = ACTIONS[name_of_action]
    scene = await Scene.set_up(world_of_logins, visibility, action.get("metadata"))
    observed = {caller: await observe(scene, action, person(world_of_logins, caller)) for caller in CALLERS}
    assert observed == action[visibility]


@pytest.mark.parametrize("visibility", ("private", "public"))
@pytest.mark.parametrize("relation", ["entry", "entry_image", "entry_overview", "thread_overview", "tag_overview"])
async def test_tables_and_views_show_each_login_what_searches_show(
    world_of_logins: World,
    empty_table: None,
    connections: dict[str, Connection],
    relation: str,
    visibility: str,
) -> None:
    await Scene.set_up(world_of_logins, visibility)
    shown = ACTIONS["search for everything"][visibility]
    for who, connection in connections.items():
        expected = int(shown[who] == "shown")
        assert rows(connection, f"select count(*) from pgcontext.{relation}") == [(expected,)], who


@pytest.mark.parametrize("visibility", ("private", "public"))
@pytest.mark.parametrize(
    "statement, action",
    [
        ("update pgcontext.entry set text_content = 'changed'", "change text, metadata, tags and images"),
        ("update pgcontext.entry set metadata = '{}'", "change text, metadata, tags and images"),
        ("delete from pgcontext.entry", "delete the thread"),
        ("delete from pgcontext.entry_grant", "unshare"),
        ("delete from pgcontext.entry_image", "change text, metadata, tags and images"),
        (
            "insert into pgcontext.entry_grant (entry_id, principal_type, principal_id, permission, granted_by, "
            "created_at) select id, 'user', 'newcomer', 'write', 'x', now() from pgcontext.entry",
            "share",
        ),
        (
            "insert into pgcontext.entry_image (entry_id, position, data, mime_type) "
            "select id, 7, 'x', 'image/png' from pgcontext.entry",
            "change text, metadata, tags and images",
        ),
    ],
)
async def test_statements_change_what_the_tools_would_change(
    world_of_logins: World,
    empty_table: None,
    connections: dict[str, Connection],
    statement: str,
    action: str,
    visibility: str,
) -> None:
    await Scene.set_up(world_of_logins, visibility)
    for who, connection in connections.items():
        with connection.transaction(force_rollback=True):
            try:
                changed = connection.execute(statement).rowcount  # type: ignore[call-overload]
            except psycopg.errors.InsufficientPrivilege:
                changed = 0
        assert (changed > 0) == (ACTIONS[action][visibility][who] == "done"), who
