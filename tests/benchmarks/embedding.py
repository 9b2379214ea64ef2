"""What the built-in model and the reranker cost: time, memory and CPU.

    python -m tests.benchmarks.embedding [--passages N] [--queries N]

Prints medians, since other work on the machine disturbs some runs, beside the targets; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from tests.e2e.texts import package_descriptions

from pgcontext.generation.base import QueryTokens
from pgcontext.generation.builtin.provider import BuiltinProvider
from pgcontext.generation.reranking.base import Passage
from pgcontext.generation.reranking.blend import Candidate, blend
from pgcontext.generation.reranking.maxsim import MaxSim
from pgcontext.text.chunks import split_text

WORDS = 200
WINDOW = 100
TOKENS = 280
QUERY_TOKENS = 16
COLD_START = """
import asyncio, json, psutil, time

begin = time.perf_counter()
from pgcontext.generation.builtin.provider import BuiltinProvider

async def start():
    provider = BuiltinProvider(workers=2)
    await provider.embed_query("What is known about the ferry?")
    seconds = time.perf_counter() - begin
    resident = psutil.Process().memory_info().rss
    await provider.embed_documents(["word " * (1 + 37 * number % 300) for number in range(60)])
    print(json.dumps([seconds, resident / 2**20, psutil.Process().memory_info().rss / 2**20]))

asyncio.run(start())
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    name: str
    value: float
    unit: str
    target: str = ""

    def __str__(self) -> str:
        return f"{self.name:<48}{self.value:>9.2f} {self.unit:<12}{self.target}".rstrip()


def passages(count: int) -> list[str]:
    """Prose of `WORDS` words each, from the descriptions of packages."""
    words = " ".join(found.text for found in package_descriptions(1000)).split()
    return [" ".join(words[WORDS * number : WORDS * (number + 1)]) for number in range(count)]


def cold_start() -> list[Figure]:
    """Time and memory of processes that do nothing but embed."""
    runs = [json.loads(subprocess.check_output([sys.executable, "-c", COLD_START])) for _ in range(5)]
    seconds, idle, worked = (statistics.median(column) for column in zip(*runs, strict=True))
    return [
        Figure("start to the first embedding", seconds * 1000, "ms", "2000 for the whole server"),
        Figure("resident with the model loaded", idle, "MiB", "250 for the whole server"),
        Figure("resident after documents of many lengths", worked, "MiB"),
    ]


async def timed(act: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Seconds by the clock and of CPU that `act` takes."""
    begin, cpu = time.perf_counter(), time.process_time()
    await act()
    return time.perf_counter() - begin, time.process_time() - cpu


async def queries(count: int) -> list[Figure]:
    """Queries one after the other."""
    provider = BuiltinProvider(workers=1)
    await provider.open()
    costs = [
        await timed(partial(provider.embed_query, f"What is known about ferry {number}?"))
        for number in range(count)
    ]
    await provider.close()
    elapsed, cpu = (statistics.median(column) * 1000 for column in zip(*costs, strict=True))
    return [Figure("a query", elapsed, "ms", "1.6"), Figure("a query, CPU", cpu, "ms")]


async def documents(texts: Sequence[str], workers: int) -> list[Figure]:
    """Documents in one call."""
    provider = BuiltinProvider(workers)
    await provider.open()
    elapsed, cpu = await timed(partial(provider.embed_documents, texts))
    await provider.close()
    name = f"passages of {WORDS} words, workers: {workers}"
    return [
        Figure(name, len(texts) / elapsed, "per second", f"{36 * workers}"),
        Figure(f"{name}, CPU", cpu * 1000 / len(texts), "ms each"),
    ]


async def reranking() -> list[Figure]:
    """The whole rerank of a full window of long passages."""
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(QUERY_TOKENS, 128)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = QueryTokens(vectors, np.ones(QUERY_TOKENS, dtype=np.float32))
    window = [Passage(generator.bytes(16 * TOKENS)) for _ in range(WINDOW)]
    candidates = [
        Candidate(str(number), str(number - 1), number / 10, number / WINDOW) for number in range(WINDOW)
    ]

    async def rerank() -> None:
        blend(candidates, await MaxSim().score("", tokens, window), 0.3)

    costs = [await timed(rerank) for _ in range(100)]
    elapsed, cpu = (statistics.median(column) * 1000 for column in zip(*costs, strict=True))
    name = f"reranking {WINDOW} passages of {TOKENS} tokens"
    return [Figure(name, elapsed, "ms"), Figure(f"{name}, CPU", cpu, "ms", "4")]


def chunking() -> list[Figure]:
    """Cutting texts, also one without any place to cut at."""
    figures = []
    for name, text in (("prose", " ".join(passages(5000))), ("one long word", "x" * 5_000_000)):
        begin = time.perf_counter()
        split_text(text, 1500, 150)
        figures.append(Figure(f"cutting {name}", len(text) / (time.perf_counter() - begin) / 1e6, "MB a second"))
    return figures


def report(figures: Sequence[Figure]) -> None:
    """Print figures as they come."""
    for figure in figures:
        print(figure, flush=True)


async def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What the built-in model and the reranker cost.")
    parser.add_argument("--passages", type=int, default=200)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args(arguments)
    texts = passages(options.passages)
    report(cold_start())
    report(await queries(options.queries))
    for workers in (1, 2):
        report(await documents(texts, workers))
    report(await reranking())
    report(chunking())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
