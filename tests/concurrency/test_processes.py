"""Several processes on one SQLite file: they wait for each other, lose nothing and repeat nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from concurrency.gates import everything
from pgcontext.storage.sqlite.store import SqliteStore
from support.options import settings_for
from support.world import World, serving

# reads one list of calls after the other, makes them all, and answers with their results and the longest time
WORKER = """
import asyncio, json, sys, time
from pathlib import Path
from concurrency.test_processes import store_on
from support.options import settings_for
from support.world import serving

async def main():
    async with serving(settings_for(), store_on(Path(sys.argv[1]))) as world:
        alice = world.as_("alice")
        print("ready", flush=True)
        for line in sys.stdin:
            print("begun", flush=True)
            results, longest = [], 0
            for tool, arguments in json.loads(line):
                begin = time.monotonic()
                results.append(await getattr(alice, tool)(**arguments))
                longest = max(longest, time.monotonic() - begin)
            print(json.dumps([results, longest]), flush=True)

asyncio.run(main())
"""

LONG_WRITE = """
    with recursive counter (number) as (select 1 union all select number + 1 from counter where number < 10000)
    insert into ballast select number from counter
"""

Call = tuple[str, dict[str, Any]]


class Worker:
    """A process with a server of its own on the file."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def begin(self, calls: list[Call]) -> None:
        """Have it make these calls; returns when it is about to make the first."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(calls).encode() + b"\n")
        await self.expect("begun")

    async def finish(self) -> tuple[list[dict[str, Any]], float]:
        """The results of the calls, and how many seconds the slowest took."""
        results, longest = json.loads(await self._line())
        return results, longest

    async def expect(self, word: str) -> None:
        assert await self._line() == word

    async def stop(self) -> None:
        """End the process by the end of its input."""
        await self._process.communicate(b"")
        assert self._process.returncode == 0

    async def _line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(60):
            return (await self._process.stdout.readline()).decode().rstrip()


def store_on(path: Path) -> SqliteStore:
    """The store that every process opens."""
    settings = settings_for()
    return SqliteStore(path, settings.access_policy(), indexed_fields=settings.metadata_indexed_fields)


StartWorkers = Callable[[int], Awaitable[list[Worker]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pgcontext.db"


@pytest.fixture
async def start_workers(path: Path) -> AsyncIterator[StartWorkers]:
    """Starts processes that are ready for calls; they must have ended well when the test is over."""
    workers: list[Worker] = []

    async def start(count: int) -> list[Worker]:
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", WORKER, str(path)),
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=2**24,
            )
            workers.append(Worker(process))
        for worker in workers:
            await worker.expect("ready")
        return workers

    yield start
    for worker in workers:
        await worker.stop()


@pytest.fixture
async def own_world(path: Path) -> AsyncIterator[World]:
    """A server in this process on the same file."""
    async with serving(settings_for(), store_on(path)) as world:
        yield world


async def test_two_hundred_writes_of_four_processes_beside_a_long_writer(
    path: Path, start_workers: StartWorkers, own_world: World
) -> None:
    workers = await start_workers(4)
    alice = own_world.as_("alice")
    reads = 0
    with closing(apsw.Connection(str(path))) as long_writer:
        long_writer.set_busy_timeout(10_000)
        long_writer.execute("begin immediate; create table ballast (number integer)")
        for number, worker in enumerate(workers):
            await worker.begin(
                [
                    (
                        "store_context",
                        {"thread_id": "t", "source": "user", "text": f"{number} {place}", "tags": ["x"]},
                    )
                    for place in range(50)
                ]
            )
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            long_writer.execute(LONG_WRITE)
            assert await everything(alice) == []
            reads += 1
        long_writer.execute("drop table ballast; commit")
    assert reads > 10
    for worker in workers:
        results, longest = await worker.finish()
        assert len(results) == 50
        assert 0.5 < longest < 30
    assert (await alice.get_statistics())["total_entries"] == 200


async def test_two_processes_repeat_nothing_and_see_each_other_at_once(
    start_workers: StartWorkers, own_world: World
) -> None:
    workers = await start_workers(2)
    alice = own_world.as_("alice")
    entry_id = await alice.store("before")
    stores: list[Call] = [
        ("store_context", {"thread_id": f"t{number}", "source": "user", "text": "the same"})
        for number in range(30)
    ]
    for number, worker in enumerate(workers):
        patches: list[Call] = [
            ("update_context", {"context_id": entry_id, "metadata_patch": {f"{number} {place}": 1}})
            for place in range(30)
        ]
        await worker.begin([call for pair in zip(stores, patches, strict=True) for call in pair])
    answers = [await worker.finish() for worker in workers]
    ids = [{result["context_id"] for result in results} for results, _ in answers]
    assert ids[0] == ids[1]
    entries = await everything(alice)
    assert {entry["id"] for entry in entries} == ids[0]
    assert len(entries) == 31
    assert len(entries[-1]["metadata"]) == 60
