"""What a call costs the server: CPU milliseconds of the server process and of the database.

    python -m tests.benchmarks.cost [--entries N] [--threads N] [--rounds N] [--calls N] [sqlite] [postgresql]
    python -m tests.benchmarks.cost --row-level-security [the same numbers]

A real server process is called through the official client over HTTP, one call after the other. Prints the median
over the rounds, since other work on the machine disturbs some of them, beside the target; asserts nothing. Nothing
is embedded: what a model costs is measured by tests.benchmarks.search. The second form measures PostgreSQL with
and without row-level security, round by round in turn, and prints what the policies cost in per cent.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import psycopg
from mcp import Client
from tests.e2e.processes import ServerProcess, call
from tests.e2e.storages import BACKENDS, empty_storage
from tests.e2e.texts import library_modules
from tests.support.postgres import LOGIN, OWNER

TEXT_LENGTH = 1200
BATCH = 100
PROJECTS = 50
TARGETS = {
    "search_context, metadata filter": 6.0,
    "get_context_by_ids, 10 entries": 5.0,
    "list_threads, all": 8.0,
    "store_context": 6.0,
    "store_context_batch, per entry": 1.0,
}


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds of one call; `database` is None where the database is part of the server process."""

    server: float
    database: float | None

    @property
    def total(self) -> float:
        return self.server + (self.database or 0.0)


class PostgresClock:
    """The CPU seconds of a whole PostgreSQL server, whatever host or container it runs in.

    Read from its own /proc as a superuser: every process that runs, and through the postmaster every one that has
    ended. So the server must run on Linux.
    """

    _PROCESSES = """
        select process.pid = postmaster.pid, pg_read_file(format('/proc/%s/stat', process.pid), 0, 4096, true)
        from (select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::integer as pid) as postmaster
        cross join lateral (
            select pid from pg_stat_activity where pid is not null union select postmaster.pid
        ) as process
    """

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._ticks_per_second = os.sysconf("SC_CLK_TCK")

    def seconds(self) -> float:
        ticks = 0
        for is_postmaster, stat in self._connection.execute(self._PROCESSES).fetchall():
            if stat is not None:
                # user and system time, then the same of the children that have ended
                times = [int(field) for field in stat.rpartition(")")[2].split()[11:15]]
                ticks += sum(times if is_postmaster else times[:2])
        return ticks / self._ticks_per_second

    def settle(self) -> None:
        """Do what autovacuum does by itself in the first minutes after many rows have come."""
        self._connection.execute("vacuum analyze")
        self._connection.execute("checkpoint")

    def close(self) -> None:
        self._connection.close()


class Meter:
    """Measures what calls cost the server process and the database."""

    def __init__(self, server: ServerProcess, database: PostgresClock | None) -> None:
        self._server = psutil.Process(server.process.pid)
        self._database = database

    def settle(self) -> None:
        """Bring the database into the state in which it will live."""
        if self._database:
            self._database.settle()

    async def cost(self, act: Callable[[], Awaitable[Any]], units: int) -> Cost:
        """What `act` costs, divided by the number of units it does."""
        server, database = self._seconds()
        await act()
        server_after, database_after = self._seconds()
        in_database = None if database is None or database_after is None else database_after - database
        factor = 1000 / units
        return Cost((server_after - server) * factor, None if in_database is None else in_database * factor)

    def _seconds(self) -> tuple[float, float | None]:
        # its workers are a part of it, while they run
        processes = [self._server, *self._server.children(recursive=True)]
        seconds = sum(times.user + times.system for times in map(psutil.Process.cpu_times, processes))
        return seconds, self._database.seconds() if self._database else None


class Workload:
    """Entries like those of a team of agents, and the calls that are measured."""

    def __init__(self, client: Client, entries: int, threads: int) -> None:
        self._client = client
        self._entries = entries
        self._threads = threads
        self.random = random.Random(2026)
        self.source = "\n".join(text.text for text in library_modules(60))
        self._ids: list[str] = []

    def entry(self, number: int) -> dict[str, Any]:
        """An entry with a text cut out of real files at random, metadata and tags."""
        begin = self.random.randrange(len(self.source) - TEXT_LENGTH)
        return {
            "thread_id": f"thread-{number % self._threads:04}",
            "source": "user" if number % 3 == 0 else "agent",
            "text": f"{number}: {self.source[begin : begin + TEXT_LENGTH]}",
            "tags": self.random.sample([f"topic-{topic}" for topic in range(40)], 3),
            "metadata": {
                "project": f"project-{self.random.randrange(PROJECTS):02}",
                "status": self.random.choice(["pending", "active", "done", "blocked"]),
                "agent_name": f"agent-{number % 8}",
                "task_name": f"task-{number % 997}",
                "priority": self.random.randrange(10),
                "technologies": self.random.sample(["python", "postgresql", "sqlite", "mcp", "docker"], 2),
            },
        }

    async def fill(self, begin: int, end: int) -> None:
        """Store the entries of these numbers in batches."""
        for first in range(begin, end, BATCH):
            batch = [self.entry(number) for number in range(first, min(first + BATCH, end))]
            stored = await call(self._client, "store_context_batch", entries=batch)
            self._ids += [item["context_id"] for item in stored["results"]]

    async def search(self) -> None:
        project = f"project-{self.random.randrange(PROJECTS):02}"
        await call(self._client, "search_context", metadata={"project": project})

    async def get(self) -> None:
        chosen = self.random.sample(self._ids, min(10, len(self._ids)))
        await call(self._client, "get_context_by_ids", context_ids=chosen)

    async def list_threads(self) -> None:
        await call(self._client, "list_threads")

    async def store(self) -> None:
        self._entries += 1
        await call(self._client, "store_context", **self.entry(self._entries))


async def measure(url: str, meter: Meter, options: argparse.Namespace) -> dict[str, Cost]:
    """The cost of every kind of call, in the order of `TARGETS`."""
    async with Client(url) as client:
        workload = Workload(client, options.entries, options.threads)
        steps = [options.entries * step // options.rounds for step in range(options.rounds + 1)]
        filling = [
            await meter.cost(partial(workload.fill, begin, end), end - begin) for begin, end in pairwise(steps)
        ]
        meter.settle()
        costs = [await _rounds(meter, act, options) for act in _single_calls(workload)]
    return dict(zip(TARGETS, [*costs, median_cost(filling)], strict=True))


def _single_calls(workload: Workload) -> list[Callable[[], Awaitable[None]]]:
    return [workload.search, workload.get, workload.list_threads, workload.store]


async def measure_in_turn(
    servers: Sequence[tuple[str, Meter]], options: argparse.Namespace
) -> list[dict[str, Cost]]:
    """The costs on several servers, whose rounds take turns, so that they share what disturbs the machine."""
    async with AsyncExitStack() as stack:
        workloads = [
            Workload(await stack.enter_async_context(Client(url)), options.entries, options.threads)
            for url, _ in servers
        ]
        meters = [meter for _, meter in servers]
        both = list(zip(workloads, meters, strict=True))
        steps = [options.entries * step // options.rounds for step in range(options.rounds + 1)]
        filling = [
            [await meter.cost(partial(workload.fill, begin, end), end - begin) for workload, meter in both]
            for begin, end in pairwise(steps)
        ]
        meters[0].settle()
        rounds = [
            [
                [await meter.cost(partial(_repeat, act, options.calls), options.calls) for act, meter in turn]
                for _ in range(options.rounds)
            ]
            for turn in (
                list(zip(acts, meters, strict=True)) for acts in zip(*map(_single_calls, workloads), strict=True)
            )
        ]
    calls = [*rounds, filling]
    return [
        dict(zip(TARGETS, (median_cost([one[place] for one in costs]) for costs in calls), strict=True))
        for place in range(len(servers))
    ]


async def _repeat(act: Callable[[], Awaitable[None]], times: int) -> None:
    for _ in range(times):
        await act()


async def _rounds(meter: Meter, act: Callable[[], Awaitable[None]], options: argparse.Namespace) -> Cost:
    await act()
    one_round = partial(_repeat, act, options.calls)
    return median_cost([await meter.cost(one_round, options.calls) for _ in range(options.rounds)])


def median_cost(costs: Sequence[Cost]) -> Cost:
    """The round in the middle, by the sum of both parts."""
    return sorted(costs, key=lambda cost: cost.total)[len(costs) // 2]


def run(backend: str, options: argparse.Namespace) -> None:
    """Measure one backend and print its part of the table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-cost-")))
        storage = stack.enter_context(empty_storage(backend, folder))
        clock = PostgresClock(storage.dsn) if storage.dsn else None
        if clock:
            stack.callback(clock.close)
        server = stack.enter_context(ServerProcess(storage.settings, folder))
        costs = asyncio.run(measure(server.url, Meter(server, clock), options))
    for what, cost in costs.items():
        database = "" if cost.database is None else f"{cost.database:.2f}"
        print(f"{backend:<11} {what:<32} {cost.server:7.2f} {database:>9} {cost.total:7.2f} {TARGETS[what]:7.1f}")


def run_row_level_security(options: argparse.Namespace) -> None:
    """Measure PostgreSQL with and without row-level security, and print what it costs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-cost-")))
        storage = stack.enter_context(empty_storage("postgresql", folder))
        clock = PostgresClock(storage.dsn or "")
        stack.callback(clock.close)
        # a schema for each, in one database: they share its caches and its background processes
        as_owner = storage.settings["POSTGRESQL_CONNECTION_STRING"].replace(LOGIN, OWNER)
        without = {"ENABLE_POSTGRESQL_RLS": "false", "POSTGRESQL_SCHEMA": "without_policies"}
        variants = [storage.settings, storage.settings | without | {"POSTGRESQL_CONNECTION_STRING": as_owner}]
        servers = [stack.enter_context(ServerProcess(variant, folder)) for variant in variants]
        meters = [Meter(server, clock) for server in servers]
        urls = [server.url for server in servers]
        bound, free = asyncio.run(measure_in_turn(list(zip(urls, meters, strict=True)), options))
    print(f"{'call':<32} {'with':>9} {'without':>9} {'costs':>8}   {'in the database alone':>21}")
    for what in TARGETS:
        print(
            f"{what:<32} {bound[what].total:9.2f} {free[what].total:9.2f} "
            f"{_surplus(bound[what].total, free[what].total):>8}   "
            f"{_surplus(bound[what].database or 0, free[what].database or 0):>21}"
        )
    whole = (sum(cost.total for cost in bound.values()), sum(cost.total for cost in free.values()))
    print(f"{'one of each':<32} {whole[0]:9.2f} {whole[1]:9.2f} {_surplus(*whole):>8}   target: at most 15 %")


def _surplus(with_policies: float, without: float) -> str:
    if not without:
        # too little was done for the clock to notice
        return ""
    return f"{100 * (with_policies / without - 1):+.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds per call")
    parser.add_argument("backends", nargs="*", help="sqlite, postgresql; both when left out")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=100, help="calls per round")
    parser.add_argument(
        "--row-level-security", action="store_true", help="what the policies of PostgreSQL cost, in per cent"
    )
    options = parser.parse_args()
    print(
        f"CPU milliseconds per call: {options.entries} entries of {TEXT_LENGTH} characters in {options.threads} "
        f"threads,\nmedian of {options.rounds} rounds of {options.calls} calls; Python "
        f"{platform.python_version()}, {platform.machine()}\n"
    )
    if options.row_level_security:
        run_row_level_security(options)
        return
    print(f"{'backend':<11} {'call':<32} {'server':>7} {'database':>9} {'total':>7} {'target':>7}")
    for backend in options.backends or BACKENDS:
        run(backend, options)


if __name__ == "__main__":
    main()
