"""What searching costs: CPU milliseconds of the server process and of the database, and how much goes at once.

    python -m tests.benchmarks.search [--entries N] [--rounds N] [--calls N] [sqlite] [postgresql]

A real server with default settings is filled with texts of real files and called through the official client over
HTTP. Queries are words that stand together in a text. Prints the median over the rounds beside the target, how
many hybrid searches of 16 clients are answered in a second, how fast texts were stored, and the memory; asserts
nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from mcp import Client
from tests.benchmarks.cost import Meter, PostgresClock, Workload, median_cost
from tests.e2e.processes import WITH_MODEL, ServerProcess, call
from tests.e2e.storages import BACKENDS, empty_storage

CLIENTS = 16
THREADS = 200
TARGETS = {
    "full text, two words": 8.0,
    "semantic": 12.0,
    "hybrid, reranked": 20.0,
    "hybrid in a thread": 15.0,
    "hybrid with a metadata filter": 15.0,
}

Search = Callable[[Client, str], Awaitable[Any]]


def searches(workload: Workload) -> dict[str, Search]:
    """One call of each kind, given a client and a query."""
    thread = partial(workload.random.randrange, THREADS)
    project = partial(workload.random.randrange, 50)
    return {
        "full text, two words": lambda client, query: call(
            client, "fts_search_context", query=" ".join(query.split()[:2])
        ),
        "semantic": lambda client, query: call(client, "semantic_search_context", query=query),
        "hybrid, reranked": lambda client, query: call(client, "hybrid_search_context", query=query),
        "hybrid in a thread": lambda client, query: call(
            client, "hybrid_search_context", query=query, thread_id=f"thread-{thread():04}"
        ),
        "hybrid with a metadata filter": lambda client, query: call(
            client, "hybrid_search_context", query=query, metadata={"project": f"project-{project():02}"}
        ),
    }


def queries(workload: Workload, count: int) -> list[str]:
    """Five words that stand together somewhere, every one another."""
    words = re.findall(r"[a-zA-Z]{3,}", workload.source)
    begins = workload.random.sample(range(len(words) - 5), count)
    return [" ".join(words[begin : begin + 5]) for begin in begins]


async def measure(url: str, server: ServerProcess, clock: PostgresClock | None, options: Any) -> list[str]:
    """One line for each figure."""
    meter = Meter(server, clock)
    process = psutil.Process(server.process.pid)
    lines = [f"{'memory when idle, MB':<34} {process.memory_info().rss / 1e6:31.0f} {250:8}"]
    async with Client(url) as client:
        workload = Workload(client, options.entries, THREADS)
        begun = time.perf_counter()
        filling = await meter.cost(partial(workload.fill, 0, options.entries), options.entries)
        rate = options.entries / (time.perf_counter() - begun)
        lines.append(
            f"{'stored with embeddings, per entry':<34} {filling.server:7.1f} {filling.database or 0:9.1f} "
            f"{filling.total:13.1f}   {rate:.0f} a second (target 50)"
        )
        meter.settle()
        for kind, search in searches(workload).items():
            costs = []
            for _ in range(options.rounds):
                asked = queries(workload, options.calls)

                async def ask(asked: list[str] = asked, search: Search = search) -> None:
                    for query in asked:
                        await search(client, query)

                costs.append(await meter.cost(ask, options.calls))
            cost = median_cost(costs)
            lines.append(
                f"{kind:<34} {cost.server:7.2f} {cost.database or 0:9.2f} {cost.total:13.2f} {TARGETS[kind]:8.1f}"
            )
        lines.append(await _throughput(url, workload, options.calls))
    lines.append(f"{'memory at the end, MB':<34} {process.memory_info().rss / 1e6:31.0f} {350:8}")
    return lines


async def _throughput(url: str, workload: Workload, calls: int) -> str:
    """How many hybrid searches a second 16 clients get answered together."""
    search = searches(workload)["hybrid, reranked"]

    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(url)) for _ in range(CLIENTS)]

        async def ask(client: Client, asked: list[str]) -> None:
            for query in asked:
                await search(client, query)

        asked = [queries(workload, calls) for _ in clients]
        begun = time.perf_counter()
        await asyncio.gather(*map(ask, clients, asked))
        rate = CLIENTS * calls / (time.perf_counter() - begun)
    return f"{'hybrid searches of 16 clients, per second':<42} {rate:23.0f} {60:8}"


def cold_start(settings: dict[str, str], folder: Path) -> str:
    """From the start of the process to the first answered search."""
    begun = time.perf_counter()
    with ServerProcess(settings, folder) as server:

        async def first() -> None:
            async with Client(server.url) as client:
                await call(client, "hybrid_search_context", query="anything at all")

        asyncio.run(first())
        return f"{'start to the first answered search, s':<42} {time.perf_counter() - begun:23.2f} {2:8}"


def run(backend: str, options: argparse.Namespace) -> None:
    """Measure one backend and print its part of the table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-search-")))
        storage = stack.enter_context(empty_storage(backend, folder))
        clock = PostgresClock(storage.dsn) if storage.dsn else None
        if clock:
            stack.callback(clock.close)
        lines = [cold_start(storage.settings | WITH_MODEL, folder)]
        server = stack.enter_context(ServerProcess(storage.settings | WITH_MODEL, folder))
        lines += asyncio.run(measure(server.url, server, clock, options))
    for line in lines:
        print(f"{backend:<11} {line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds per search")
    parser.add_argument("backends", nargs="*", help="sqlite, postgresql; both when left out")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=50, help="calls per round")
    options = parser.parse_args()
    print(f"{options.entries} entries; median of {options.rounds} rounds of {options.calls} calls\n")
    print(f"{'backend':<11} {'call':<34} {'server':>7} {'database':>9} {'total':>13} {'target':>8}")
    for backend in options.backends or BACKENDS:
        run(backend, options)


if __name__ == "__main__":
    main()
