"""What planning the sync of a corpus costs: CPU milliseconds of the server process and of the database.

    python -m tests.benchmarks.sync [--documents N] [--calls N] [sqlite] [postgresql]

A corpus is stored through a real server process and planned over HTTP: the first thousand documents as a range, a
thousand of them spread over the whole corpus without bounds, and the whole corpus in ranges of a thousand. Prints
what it finds beside the target; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from mcp import Client
from tests.benchmarks.cost import Cost, Meter, PostgresClock
from tests.e2e.processes import ServerProcess, call
from tests.e2e.storages import BACKENDS, empty_storage

THREAD = "kb:benchmark"
RANGE = 1000
BATCH = 100
TARGET = 30.0
META = sha256(b"meta").hexdigest()


def source_id(number: int) -> str:
    return f"docs/chapter-{number // 100:05}/page-{number:07}.md"


def text(number: int) -> str:
    return f"page {number}\n" + "what a page of a handbook says, in some words " * 20 + "end"


def item(number: int) -> dict[str, Any]:
    digest = sha256(text(number).encode()).hexdigest()
    return {"source_id": source_id(number), "text_digest": digest, "meta_digest": META}


def document(number: int) -> dict[str, Any]:
    """A document as a sync client stores it."""
    block = {
        "scope": THREAD,
        "source_id": source_id(number),
        "meta_digest": META,
        "synced_at": "2026-03-14T10:00:00Z",
    }
    return {
        "thread_id": THREAD,
        "source": "agent",
        "text": text(number),
        "deduplicate": False,
        "metadata": {"ingest": block},
    }


def ranges(documents: int) -> Iterator[dict[str, Any]]:
    """The arguments of the plans that together cover the whole corpus."""
    for first in range(0, documents, RANGE):
        last = min(first + RANGE, documents) - 1
        bounds: dict[str, Any] = {"source_id_after": source_id(first - 1)} if first else {}
        if last + 1 < documents:
            bounds["source_id_through"] = source_id(last)
        yield bounds | {"thread_id": THREAD, "manifest": [item(number) for number in range(first, last + 1)]}


async def fill(client: Client, documents: int) -> None:
    for first in range(0, documents, BATCH):
        batch = [document(number) for number in range(first, min(first + BATCH, documents))]
        await call(client, "store_context_batch", entries=batch)


async def plan_often(client: Client, arguments: dict[str, Any], calls: int) -> None:
    for _ in range(calls):
        await call(client, "plan_context_sync", **arguments)


async def plan_all(client: Client, documents: int) -> None:
    for arguments in ranges(documents):
        planned = await call(client, "plan_context_sync", **arguments)
        if planned["unchanged_count"] != len(arguments["manifest"]):
            raise SystemExit(f"not what was stored: {planned}")


async def measure(url: str, meter: Meter, options: argparse.Namespace) -> list[tuple[str, Cost, float | None]]:
    """What was measured, its cost and its target."""
    async with Client(url) as client:
        stored = await meter.cost(partial(fill, client, options.documents), options.documents)
        meter.settle()
        first = next(ranges(options.documents))
        step = max(options.documents // RANGE, 1)
        spread = {"thread_id": THREAD, "manifest": [item(number) for number in range(0, options.documents, step)]}
        spread["manifest"] = spread["manifest"][:RANGE]
        found: list[tuple[str, Cost, float | None]] = [("store a document, in batches", stored, None)]
        for what, arguments in (("plan a range of 1,000", first), ("plan 1,000 without bounds", spread)):
            await plan_often(client, arguments, 8)
            cost = await meter.cost(partial(plan_often, client, arguments, options.calls), options.calls)
            found.append((what, cost, TARGET))
        began = time.perf_counter()
        whole = await meter.cost(partial(plan_all, client, options.documents), 1)
        seconds = time.perf_counter() - began
        found.append((f"plan all, by ranges ({seconds:.1f} s)", whole, None))
    return found


def run(backend: str, options: argparse.Namespace) -> None:
    """Measure one backend and print its part of the table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-sync-")))
        storage = stack.enter_context(empty_storage(backend, folder))
        clock = PostgresClock(storage.dsn) if storage.dsn else None
        if clock:
            stack.callback(clock.close)
        server = stack.enter_context(ServerProcess(storage.settings, folder))
        found = asyncio.run(measure(server.url, Meter(server, clock), options))
    for what, cost, target in found:
        database = "" if cost.database is None else f"{cost.database:.2f}"
        wanted = "" if target is None else f"{target:.1f}"
        print(f"{backend:<11} {what:<32} {cost.server:9.2f} {database:>9} {cost.total:9.2f} {wanted:>7}")


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds of sync planning")
    parser.add_argument("backends", nargs="*", help="sqlite, postgresql; both when left out")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=20, help="calls of a plan")
    options = parser.parse_args()
    print(f"CPU milliseconds for a corpus of {options.documents} documents\n")
    print(f"{'backend':<11} {'call':<32} {'server':>9} {'database':>9} {'total':>9} {'target':>7}")
    for backend in options.backends or BACKENDS:
        run(backend, options)


if __name__ == "__main__":
    main()
