"""Making calls meet: a gate that holds writes back until enough of them stand before it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg

from pgcontext.storage.store import Store
from support.world import Person, ToolRefused

_LONG = 30.0


class Gate(ABC):
    """Holds back every write, and lets reads pass."""

    @abstractmethod
    def waiting(self) -> int:
        """How many writes stand before it."""

    async def crowd(self, size: int) -> None:
        """Wait until so many writes stand before it."""
        async with asyncio.timeout(_LONG):
            while self.waiting() < size:  # noqa: ASYNC110
                await asyncio.sleep(0.001)


class _FileGate(Gate):
    def __init__(self, store: Store) -> None:
        self._store = store

    def waiting(self) -> int:
        metrics = self._store.connection_metrics()
        return metrics.in_use + metrics.waiting


class _TableGate(Gate):
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def waiting(self) -> int:
        row = self._connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        ).fetchone()
        assert row is not None
        return int(row[0])


@contextmanager
def file_gate(path: Path, store: Store) -> Iterator[Gate]:
    """A gate before a SQLite file: another writer's transaction."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(10_000)
    connection.execute("begin immediate")
    try:
        yield _FileGate(store)
    finally:
        connection.execute("rollback")
        connection.close()


@contextmanager
def table_gate(conninfo: str) -> Iterator[Gate]:
    """A gate before the table of entries: a lock that only reading gets past."""
    with psycopg.connect(conninfo, autocommit=True) as watcher, psycopg.connect(conninfo) as holder:
        holder.execute("lock table pgcontext.entry in exclusive mode")
        yield _TableGate(watcher)


async def together(calls: Iterable[Awaitable[dict[str, Any]]]) -> list[dict[str, Any] | str]:
    """Make calls at the same time; the result of each, or the text of its refusal."""
    async with asyncio.timeout(_LONG):
        return await asyncio.gather(*map(outcome, calls))


async def outcome(call: Awaitable[dict[str, Any]]) -> dict[str, Any] | str:
    """The result of a call, or the text of its refusal."""
    try:
        return await call
    except ToolRefused as refusal:
        return str(refusal)


async def everything(person: Person, **filters: Any) -> list[dict[str, Any]]:
    """What somebody finds, newest first, with images."""
    result = await person.search_context(limit=100, include_images=True, **filters)
    return list(result["results"])
