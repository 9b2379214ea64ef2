"""A server with room for many calls at once, and the gate that makes writes meet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from concurrency.gates import Gate, file_gate, table_gate
from support.options import settings_for
from support.world import World, serving


@pytest.fixture(scope="module")
async def module_world(mode: str, make_store: Callable[..., Any]) -> AsyncIterator[World]:
    """As in every folder, but with a connection for each of up to twenty calls."""
    settings = settings_for()
    async with serving(settings, make_store(mode, settings, pool_max=20)) as world:
        yield world


@pytest.fixture(scope="module")
def conninfo(mode: str, request: pytest.FixtureRequest) -> str:
    """How a superuser connects to this module's PostgreSQL database; empty for SQLite."""
    if mode == "sqlite":
        return ""
    name = request.getfixturevalue("database")(mode == "postgresql")
    return str(request.getfixturevalue("postgres").database(name))


CloseGate = Callable[[World], AbstractContextManager[Gate]]


@pytest.fixture(scope="module")
def closed_gate(conninfo: str, request: pytest.FixtureRequest) -> CloseGate:
    """`with closed_gate(world) as gate:` no write goes on until the block ends."""
    if conninfo:
        return lambda _world: table_gate(conninfo)
    path = request.getfixturevalue("sqlite_folder") / "pgcontext.db"
    return lambda world: file_gate(path, world.store)
