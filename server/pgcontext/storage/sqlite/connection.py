"""The connections to one SQLite file, and the threads that work on them.

APSW alone opens the file: a second SQLite library in the process would drop this one's locks whenever it closes
the file.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import apsw

from pgcontext.errors import Busy, StartRefused

T = TypeVar("T")

MEMORY = ":memory:"

# A commit is on the disk before it is acknowledged.
_SETTINGS = """
    pragma foreign_keys = on;
    pragma synchronous = full;
    pragma cache_size = -16384;
    pragma journal_size_limit = 67108864;
    pragma temp_store = memory;
"""
_RETRY_S = 0.02


class Database:
    """One writing connection and several reading ones, each used by one thread at a time.

    Whoever waits longer than `busy_timeout_s` for a connection, or for a writer in another process, gets `Busy`.
    """

    def __init__(self, path: str | os.PathLike[str], readers: int, busy_timeout_s: float) -> None:
        self._path = os.fspath(path)
        self._readers_wanted = readers
        self._busy_timeout_s = busy_timeout_s
        # the writer, then the readers; in memory one connection is both
        self._pools: list[_Pool] = []

    async def open(self) -> None:
        """Connect; raises `StartRefused` when the file cannot serve as the database."""
        await asyncio.to_thread(self._open)

    def _open(self) -> None:
        try:
            writer = self._connect()
            writer.transaction_mode = "IMMEDIATE"
            self._pools = [_Pool("sqlite-writer", [writer], self._busy_timeout_s)]
            if self._path != MEMORY:
                readers = [self._connect() for _ in range(self._readers_wanted)]
                for reader in readers:
                    reader.pragma("query_only", True)
                self._pools.append(_Pool("sqlite-reader", readers, self._busy_timeout_s))
        except (OSError, apsw.Error) as error:
            raise StartRefused(f"The database file {self._path} cannot be opened: {error}") from error

    def _connect(self) -> apsw.Connection:
        if self._path != MEMORY:
            Path(self._path).parent.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(self._path)
        connection.set_busy_timeout(math.ceil(self._busy_timeout_s * 1000))
        if self._path != MEMORY:
            self._use_write_ahead_log(connection)
        connection.execute(_SETTINGS)
        return connection

    def _use_write_ahead_log(self, connection: apsw.Connection) -> None:
        """Switch the file over, once for all; processes that start together do not wait for each other here."""
        deadline = time.monotonic() + self._busy_timeout_s
        mode = None
        while mode is None:
            try:
                mode = connection.pragma("journal_mode", "wal")
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_S)
        if mode != "wal":
            raise StartRefused(
                f"The database file {self._path} lies on a file system without write-ahead logging; "
                "put it on a local disk"
            )

    async def close(self) -> None:
        """Finish what has begun and release every connection; idempotent."""
        pools, self._pools = self._pools, []
        for pool in pools:
            await asyncio.to_thread(pool.close)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run a reader in a thread; all it reads is of one moment."""
        return await self._opened()[-1].run(work)

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run a writer in a thread, in a transaction that keeps other writers out; an exception undoes it."""
        return await self._opened()[0].run(work)

    def _opened(self) -> list[_Pool]:
        if not self._pools:
            raise RuntimeError("The store is not open")
        return self._pools

    def figures(self) -> tuple[int, int, int]:
        """How many connections there are, how many are at work, and how many calls wait for one."""
        return (
            sum(pool.size for pool in self._pools),
            sum(pool.in_use for pool in self._pools),
            sum(pool.waiting for pool in self._pools),
        )


class _Pool:
    """Connections with as many threads."""

    def __init__(self, name: str, connections: list[apsw.Connection], busy_timeout_s: float) -> None:
        self.size = len(connections)
        self._busy_timeout_s = busy_timeout_s
        self._pending = 0
        self._idle: SimpleQueue[apsw.Connection] = SimpleQueue()
        for connection in connections:
            self._idle.put(connection)
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix=name)

    @property
    def in_use(self) -> int:
        return min(self._pending, self.size)

    @property
    def waiting(self) -> int:
        return self._pending - self.in_use

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        deadline = time.monotonic() + self._busy_timeout_s
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work, deadline)
        finally:
            self._pending -= 1

    def _run(self, work: Callable[[apsw.Connection], T], deadline: float) -> T:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise Busy
        connection = self._idle.get()
        try:
            connection.set_busy_timeout(math.ceil(remaining * 1000))
            return _in_transaction(connection, work)
        except apsw.BusyError as error:
            raise Busy from error
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        self._threads.shutdown()
        while not self._idle.empty():
            self._idle.get().close()


def _in_transaction(connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    """Commit the work, or undo it after an exception.

    APSW's own context manager would keep the interpreter's lock, and so stop the whole process, for as long as it
    waits for another writer or for the disk.
    """
    connection.execute(f"begin {connection.transaction_mode}")
    try:
        result = work(connection)
        connection.execute("commit")
    except BaseException:
        # some errors have undone everything by themselves
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    return result
