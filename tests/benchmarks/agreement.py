"""How far both backends agree: random queries of every mode over the same texts.

    python -m tests.benchmarks.agreement FOLDER [--texts N] [--queries N] [--seed N]

FOLDER holds collections as NAME.entries.jsonl ({id, text}). The texts are stored in both backends; the queries are
made of their words. Prints, for each mode, in how many queries the backends find the same entries, in the same
order, with the same scores; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

from tests.support.options import options_for, settings_for
from tests.support.postgres import LOGIN, OWNER, running_server

from pgcontext.principal import Principal
from pgcontext.storage.postgres.installer import provision
from pgcontext.storage.postgres.store import PostgresStore
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.store import Store
from pgcontext.storage.values import EntryFilter, NewEntry, RankedMatch
from pgcontext.text.query import Mode, ParsedQuery, parse_hybrid_query, parse_query

CALLER = Principal("agreement")
LANGUAGE = "english"
BATCH = 200
DEPTH = 100


def read_texts(folder: Path, count: int) -> list[str]:
    """Texts of all collections, in an order that mixes them."""
    lines = [line for path in sorted(folder.glob("*.entries.jsonl")) for line in path.open(encoding="utf-8")]
    texts = [text for line in lines if (text := json.loads(line)["text"].strip())]
    random.shuffle(texts)
    while len(texts) < count:
        # more texts of the same words
        texts += [f"{first[: len(first) // 2]} {second[len(second) // 2 :]}" for first, second in _pairs(texts)]
    return texts[:count]


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    return list(zip(texts, random.sample(texts, len(texts)), strict=True))


def _span(text: str, words: int) -> list[str]:
    found = re.findall(r"\S+", text)
    begin = random.randrange(max(len(found) - words, 1))
    return found[begin : begin + words]


def _boolean(text: str, other: str) -> str:
    words = _span(text, 4) + _span(other, 2)
    parts = []
    for word in words:
        parts.append(random.choice(["", "", "", "-", "NOT "]) + word)
        parts.append(random.choice(["", "AND", "OR", "OR"]))
    return " ".join(parts)


QUERIES: dict[str, Callable[[str, str], ParsedQuery]] = {
    mode: cast("Callable[[str, str], ParsedQuery]", query)
    for mode, query in {
        "match": lambda text, other: _parse(" ".join(_span(text, random.randint(1, 3))), "match"),
        "prefix": lambda text, other: _parse(
            " ".join(word[: random.randint(2, 6)] for word in _span(text, random.randint(1, 2))), "prefix"
        ),
        "phrase": lambda text, other: _parse(" ".join(_span(text, random.randint(2, 4))), "phrase"),
        "boolean": lambda text, other: _parse(_boolean(text, other), "boolean"),
        "hybrid": lambda text, other: parse_hybrid_query(
            " ".join(_span(text, random.randint(2, 9)) + _span(other, 2)), LANGUAGE, 4
        ),
    }.items()
}


def _parse(query: str, mode: Mode) -> ParsedQuery:
    return parse_query(query, mode, LANGUAGE)


@asynccontextmanager
async def both_stores() -> AsyncIterator[tuple[Store, Store]]:
    """An empty store of each backend."""
    settings = settings_for()
    with tempfile.TemporaryDirectory() as folder, running_server() as server:
        name = server.create_database()
        options = options_for(server.database(name, OWNER), True, settings)
        provision(options)
        postgres = PostgresStore(replace(options, conninfo=server.database(name, LOGIN)))
        sqlite = SqliteStore(Path(folder) / "agreement.db", settings.access_policy())
        try:
            for store in (postgres, sqlite):
                await store.open()
            yield postgres, sqlite
        finally:
            for store in (postgres, sqlite):
                await store.close()


async def fill(store: Store, texts: list[str]) -> dict[str, int]:
    """Store the texts; the number of each by its id."""
    numbers: dict[str, int] = {}
    for begin in range(0, len(texts), BATCH):
        entries = [
            NewEntry(thread_id="t", source="agent", text=text, deduplicate=False)
            for text in texts[begin : begin + BATCH]
        ]
        for outcome in await store.store_entries(CALLER, entries, True):
            numbers[str(outcome.entry_id)] = begin + outcome.index
    return numbers


Found = list[tuple[int, int, float]]


def named(matches: list[RankedMatch], numbers: dict[str, int]) -> Found:
    """Matches by the number of their text, with chunk and score."""
    return [(numbers[match.entry_id], match.chunk_index, match.fts_score or 0.0) for match in matches]


async def compare(texts: list[str], queries: int, show: int) -> None:
    """Store, ask and print."""
    figures: dict[str, Counter[str]] = {mode: Counter() for mode in QUERIES}
    async with both_stores() as stores:
        numbers = [await fill(store, texts) for store in stores]
        for number in range(queries):
            mode = list(QUERIES)[number % len(QUERIES)]
            parsed = QUERIES[mode](random.choice(texts), random.choice(texts))
            if parsed.tree is None:
                figures[mode]["without words"] += 1
                continue
            left, right = [
                named(await store.rank_words(CALLER, parsed.tree, EntryFilter(), 10 * DEPTH), numbers[place])
                for place, store in enumerate(stores)
            ]
            figures[mode]["queries"] += 1
            figures[mode]["with matches"] += bool(left)
            figures[mode]["same matches"] += {each[:2] for each in left} == {each[:2] for each in right}
            figures[mode]["same order"] += [each[:2] for each in left] == [each[:2] for each in right]
            figures[mode]["same scores"] += left == right
            if left != right and show > 0:
                show -= 1
                print(mode, parsed.tree, len(left), len(right), set(left) ^ set(right))
    for mode, counts in figures.items():
        print(f"{mode:<8}", ", ".join(f"{name} {count}" for name, count in counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Agreement of both backends")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="how many differences to print")
    options = parser.parse_args()
    random.seed(options.seed)
    asyncio.run(compare(read_texts(options.folder, options.texts), options.queries, options.show))


if __name__ == "__main__":
    main()
