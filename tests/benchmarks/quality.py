"""How well search finds: recall and nDCG at 10 on collections with judged queries, through the MCP tools.

    python -m tests.benchmarks.quality FOLDER [--only NAME] [--limit N] [sqlite] [postgresql]

FOLDER holds NAME.entries.jsonl ({id, text}), NAME.queries.jsonl ({qid, query}) and NAME.qrels.tsv (qid, id, grade)
of each collection. Every collection is stored in one thread, in its order, by a server with default settings.
Words are searched for as a boolean query of any word. Prints the figures beside the targets; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from mcp import Client
from tests.e2e.processes import WITH_MODEL, ServerProcess, call
from tests.e2e.storages import BACKENDS, empty_storage

BATCH = 100
DEPTH = 10
PARALLEL = 4
TARGETS = {
    ("locomo", "hybrid", "recall"): 0.73,
    ("locomo", "words", "recall"): 0.61,
    ("cranfield", "hybrid", "ndcg"): 0.42,
    ("cranfield", "words", "ndcg"): 0.37,
    ("xquad-en", "hybrid", "recall"): 0.97,
    ("xquad-en", "words", "recall"): 0.96,
}
# questions of LoCoMo without evidence are of this kind
_ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts, and queries with the ids of the texts that answer them."""

    name: str
    texts: dict[str, str]
    queries: list[tuple[str, set[str]]]

    @classmethod
    def read(cls, folder: Path, name: str) -> Collection:
        relevant: dict[str, set[str]] = defaultdict(set)
        for line in (folder / f"{name}.qrels.tsv").read_text(encoding="utf-8").splitlines():
            query, text, _grade = line.split("\t")
            relevant[query].add(text)
        return cls(
            name,
            {item["id"]: item["text"] for item in _json_lines(folder / f"{name}.entries.jsonl")},
            [
                (item["query"], relevant[item["qid"]])
                for item in _json_lines(folder / f"{name}.queries.jsonl")
                if item["qid"] in relevant and item.get("category") != _ADVERSARIAL
            ],
        )


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def recall(found: list[str], relevant: set[str]) -> float:
    """The share of the relevant texts among the first ten."""
    return len(relevant & set(found[:DEPTH])) / len(relevant)


def ndcg(found: list[str], relevant: set[str]) -> float:
    """Normalised discounted cumulative gain at ten, every relevant text counting the same."""
    gain = sum(1 / math.log2(place + 2) for place, text in enumerate(found[:DEPTH]) if text in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(relevant))))


async def store(client: Client, collection: Collection) -> None:
    """Store the texts in one thread, in their order."""
    entries = [
        {
            "thread_id": collection.name,
            "source": "agent",
            "text": text,
            "metadata": {"name": name},
            "deduplicate": False,
        }
        for name, text in collection.texts.items()
        if text.strip()
    ]
    for begin in range(0, len(entries), BATCH):
        await call(client, "store_context_batch", entries=entries[begin : begin + BATCH])


def any_word(query: str) -> str:
    """A boolean query that any of the words fulfils."""
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query.lower())))


Search = Callable[[Client, str, str], Awaitable[dict[str, Any]]]
SEARCHES: dict[str, Search] = {
    "words": lambda client, thread, query: call(
        client, "fts_search_context", query=any_word(query), mode="boolean", thread_id=thread, limit=DEPTH
    ),
    "meaning": lambda client, thread, query: call(
        client, "semantic_search_context", query=query, thread_id=thread, limit=DEPTH
    ),
    "hybrid": lambda client, thread, query: call(
        client, "hybrid_search_context", query=query, thread_id=thread, limit=DEPTH
    ),
}


async def measure(client: Client, collection: Collection, search: Search) -> dict[str, list[float]]:
    """Recall and nDCG of every query."""
    figures: dict[str, list[float]] = {"recall": [], "ndcg": []}
    turn = asyncio.Semaphore(PARALLEL)

    async def one(query: str, relevant: set[str]) -> None:
        async with turn:
            result = await search(client, collection.name, query)
        found = [entry["metadata"]["name"] for entry in result["results"]]
        figures["recall"].append(recall(found, relevant))
        figures["ndcg"].append(ndcg(found, relevant))

    await asyncio.gather(*(one(query, relevant) for query, relevant in collection.queries))
    return figures


async def run(url: str, backend: str, collections: list[Collection]) -> None:
    """Store all collections and print a line for each group of them and each search."""
    groups: dict[str, list[Collection]] = defaultdict(list)
    async with Client(url) as client:
        for collection in collections:
            await store(client, collection)
            groups[collection.name.split("-conv-")[0]].append(collection)
        for group, members in groups.items():
            for kind, search in SEARCHES.items():
                found = [await measure(client, member, search) for member in members]
                parts = []
                for measure_name in ("recall", "ndcg"):
                    value = fmean(value for figures in found for value in figures[measure_name])
                    target = TARGETS.get((group, kind, measure_name))
                    parts.append(f"{value:8.3f} {f'({target})' if target else '':8}")
                print(f"{backend:<11} {group:<12} {kind:<8} {' '.join(parts)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall and nDCG at 10")
    parser.add_argument("folder", type=Path)
    parser.add_argument("backends", nargs="*", help="sqlite, postgresql; both when left out")
    parser.add_argument("--only", action="append", help="names of collections, or beginnings of them")
    parser.add_argument("--limit", type=int, help="queries of each collection")
    options = parser.parse_args()
    names = sorted(path.name.removesuffix(".entries.jsonl") for path in options.folder.glob("*.entries.jsonl"))
    chosen = [name for name in names if not options.only or name.startswith(tuple(options.only))]
    collections = [Collection.read(options.folder, name) for name in chosen]
    if options.limit:
        collections = [Collection(each.name, each.texts, each.queries[: options.limit]) for each in collections]
    print(f"{'backend':<11} {'collection':<12} {'search':<8} {'R@10 (target)':>17} {'nDCG@10 (target)':>17}")
    for backend in options.backends or BACKENDS:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-quality-")))
            storage = stack.enter_context(empty_storage(backend, folder))
            server = stack.enter_context(ServerProcess(storage.settings | WITH_MODEL, folder))
            asyncio.run(run(server.url, backend, collections))


if __name__ == "__main__":
    main()
