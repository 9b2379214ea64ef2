"""How a server holds its store, and what it keeps off the event loop."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from pgcontext.app import create_server, create_store
from pgcontext.http.gate import principal_of_request
from pgcontext.principal import Principal
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.tools.offloading import HEAVY, is_heavy, run_off_loop
from support.options import settings_for


class CountingStore:
    """Counts how often it is opened and closed."""

    backend = "sqlite"

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.log: list[str] = []
        self.callers: list[Principal] = []

    async def open(self) -> None:
        self.log.append("open")
        if self.failure:
            raise self.failure

    async def close(self) -> None:
        self.log.append("close")

    async def list_threads(self, caller: Principal, limit: int | None, offset: int) -> list[Any]:
        self.callers.append(caller)
        return []


async def test_connections_share_one_open_store_and_the_last_closes_it() -> None:
    store: Any = CountingStore()
    server = create_server(settings_for(), store)
    async with Client(server):
        async with Client(server, mode="legacy"):
            assert store.log == ["open"]
        assert store.log == ["open"]
    assert store.log == ["open", "close"]


async def test_a_store_that_fails_to_open_is_closed() -> None:
    store: Any = CountingStore(OSError("no disk"))
    server = create_server(settings_for(), store)
    with pytest.raises(OSError, match="no disk"):
        async with server.lifespan(server):
            pass
    assert store.log == ["open", "close"]


async def test_every_caller_is_the_default_principal_unless_a_resolver_says_otherwise() -> None:
    store: Any = CountingStore()
    settings = settings_for(access_control_default_principal="somebody")
    async with Client(create_server(settings, store)) as client:
        await client.call_tool("list_threads")
    async with Client(create_server(settings, store, lambda _context: Principal("token", ("g",)))) as client:
        await client.call_tool("list_threads")
    assert store.callers == [Principal("somebody"), Principal("token", ("g",))]


async def test_a_call_that_no_gate_let_in_reaches_no_store() -> None:
    store: Any = CountingStore()
    async with Client(create_server(settings_for(), store, principal_of_request)) as client:
        with pytest.raises(MCPError):
            await client.call_tool("list_threads")
    assert store.callers == []


def test_the_sqlite_store_gets_its_folders(tmp_path: Any) -> None:
    path = tmp_path / "a" / "b" / "x.db"
    assert isinstance(create_store(settings_for(db_path=path)), SqliteStore)
    assert path.parent.is_dir()


@pytest.mark.parametrize(
    "payload, is_large",
    [
        ("x" * (HEAVY // 2), False),
        ("x" * (HEAVY + 1), True),
        ({"a": [{"b": b"x" * (HEAVY + 1)}]}, True),
        ([1] * (HEAVY // 16 + 1), True),
        ({"a": None, "b": [True, 1.5]}, False),
    ],
    ids=["short text", "long text", "long bytes within", "many numbers", "small object"],
)
def test_size_decides_what_is_heavy(payload: Any, is_large: bool) -> None:
    assert is_heavy(payload) is is_large


async def test_heavy_work_runs_in_another_thread_and_light_work_does_not() -> None:
    assert await run_off_loop("light", threading.get_ident) == threading.get_ident()
    assert await run_off_loop("x" * (HEAVY + 1), threading.get_ident) != threading.get_ident()
