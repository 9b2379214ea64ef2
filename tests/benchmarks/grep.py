"""What grep_context costs: CPU milliseconds of a call, and the time it takes among very many entries.

    python -m tests.benchmarks.grep [--entries N] [--many N] [--rounds N] [--calls N] [sqlite] [postgresql]

The entries are those of `cost`. Prints the median over the rounds beside the target; asserts nothing. With
`--many`, PostgreSQL is then filled up to that many entries, shorter ones made by SQL, and the time of a call is
measured.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from mcp import Client
from tests.benchmarks.cost import TEXT_LENGTH, Cost, Meter, PostgresClock, Workload, median_cost
from tests.e2e.processes import ServerProcess, call
from tests.e2e.storages import BACKENDS, empty_storage

RARE = "quokka-4711"
CASES: dict[str, tuple[dict[str, Any], float | None]] = {
    "literal, 5 matches": ({"pattern": "Quokka-4711"}, 15.0),
    "literal, no match": ({"pattern": "wombat-0815"}, 15.0),
    "literal, everywhere": ({"pattern": "self."}, 15.0),
    "literal, two ways to write it": ({"pattern": "ПРИВЕТ"}, 15.0),
    "regex with a rare literal core": ({"pattern": r"\bquokka-\d{4}\b", "is_regex": True}, 40.0),
    "regex with a common one": ({"pattern": r"\bclass (\w+)\(.*Error\)", "is_regex": True}, 40.0),
    # it looks through as many entries as it may
    "regex without one": ({"pattern": r"\b\d{4}-\d\d-\d\dT[A-Z]{9}\b", "is_regex": True}, None),
    "regex of exponential time": ({"pattern": r"([a-z_]+)+\$", "is_regex": True}, None),
}
MANY_TARGET = 100.0
FILL = """
    insert into entry (
        id, created_at, updated_at, version, thread_id, source, content_type, visibility, owner, readers, writers,
        tags, content_hash, metadata, text_content
    )
    select
        overlay(md5(n::text) placing lpad(to_hex(1600000000000 + n), 12, '0') || '7' from 1 for 13)::uuid,
        timestamptz '2025-01-01' + make_interval(secs => n),
        timestamptz '2025-01-01' + make_interval(secs => n),
        1, 'thread ' || n % 2000, 'agent', 'text', 'private', 'local', '{owner:local}', '{owner:local}', '{}', '',
        '{}', 'entry ' || n || ': ' || (
            select string_agg(words.word[1 + (n * 31 + place * place * 17) %% cardinality(words.word)], ' ')
            from generate_series(1, 20) as place
        )
    from generate_series(1, %s) as n
    cross join (
        select array_agg(distinct_words.word) as word
        from (
            select distinct word
            from (select text_content from entry limit 100) as e,
                regexp_split_to_table(e.text_content, '[^a-z]+') as word
            limit 400
        ) as distinct_words
    ) as words
"""


async def measure(url: str, meter: Meter, options: argparse.Namespace) -> dict[str, Cost]:
    """The cost of every case."""
    async with Client(url) as client:
        workload = Workload(client, options.entries, options.threads)
        await workload.fill(0, options.entries)
        for place in range(5):
            await call(client, "store_context", thread_id=f"t{place}", source="user", text=f"a {RARE} hops")
        await workload.fill(options.entries, options.entries + 300)
        meter.settle()
        return {what: await _rounds(client, meter, arguments, options) for what, (arguments, _) in CASES.items()}


async def _rounds(client: Client, meter: Meter, arguments: Mapping[str, Any], options: argparse.Namespace) -> Cost:
    async def one_round(calls: int) -> None:
        for _ in range(calls):
            await call(client, "grep_context", **arguments)

    started = time.perf_counter()
    await one_round(1)
    # what takes long is seen after one call
    calls, rounds = (options.calls, options.rounds) if time.perf_counter() - started < 1 else (1, 1)
    return median_cost([await meter.cost(partial(one_round, calls), calls) for _ in range(rounds)])


def fill_up(dsn: str, entries: int) -> None:
    """As many entries more, and what autovacuum would do by itself."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set search_path to pgcontext, public")
        connection.execute("set maintenance_work_mem to '1GB'")
        ((definition,),) = connection.execute("select pg_get_indexdef('entry_trigram_idx'::regclass)").fetchall()
        connection.execute("drop index entry_trigram_idx")
        connection.execute("alter table entry disable trigger user")
        connection.execute(FILL.replace("%s", str(entries)).replace("%%", "%"))  # type: ignore[arg-type]
        connection.execute("alter table entry enable trigger user")
        connection.execute(definition)
        connection.execute("vacuum analyze entry")


async def time_among_many(url: str, options: argparse.Namespace) -> dict[str, float]:
    """Milliseconds of a call."""
    taken: dict[str, float] = {}
    async with Client(url) as client:
        for what in ("literal, 5 matches", "literal, no match", "literal, everywhere"):
            samples = []
            for _ in range(options.rounds + 1):
                started = time.perf_counter()
                await call(client, "grep_context", **CASES[what][0])
                samples.append((time.perf_counter() - started) * 1000)
            taken[what] = median(samples[1:])
    return taken


def run(backend: str, options: argparse.Namespace) -> None:
    """Measure one backend and print its part of the table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-grep-")))
        storage = stack.enter_context(empty_storage(backend, folder))
        clock = PostgresClock(storage.dsn) if storage.dsn else None
        if clock:
            stack.callback(clock.close)
        server = stack.enter_context(ServerProcess(storage.settings, folder))
        costs = asyncio.run(measure(server.url, Meter(server, clock), options))
        for what, cost in costs.items():
            target = CASES[what][1]
            database = "" if cost.database is None else f"{cost.database:.2f}"
            shown = "budget" if target is None else f"{target:.1f}"
            print(f"{backend:<11} {what:<32} {cost.server:8.2f} {database:>9} {cost.total:8.2f} {shown:>7}")
        if storage.dsn and options.many:
            fill_up(storage.dsn, options.many - options.entries)
            for what, taken in asyncio.run(time_among_many(server.url, options)).items():
                print(f"{backend:<11} {what}, {options.many} entries: {taken:.1f} ms, target {MANY_TARGET:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds of grep_context")
    parser.add_argument("backends", nargs="*", help="sqlite, postgresql; both when left out")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=1_000_000, help="0 leaves that part out")
    parser.add_argument("--threads", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=20, help="calls per round")
    options = parser.parse_args()
    print(
        f"CPU milliseconds per call: {options.entries} entries of {TEXT_LENGTH} characters, median of "
        f"{options.rounds} rounds of {options.calls} calls;\nPython {platform.python_version()}, "
        f"{platform.machine()}\n"
    )
    print(f"{'backend':<11} {'call':<32} {'server':>8} {'database':>9} {'total':>8} {'target':>7}")
    for backend in options.backends or BACKENDS:
        run(backend, options)


if __name__ == "__main__":
    main()
