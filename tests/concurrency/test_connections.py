"""More calls than connections, callers that go away, connections that break."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import psycopg
import pytest

from concurrency.conftest import CloseGate
from concurrency.gates import everything, outcome, together
from pgcontext.principal import Principal
from pgcontext.storage.values import Image, NewEntry
from support.options import settings_for
from support.world import World, serving

BUSY = "The storage is busy; nothing was written. Try again in a moment"
INTERRUPTED = (
    "The connection to the database broke; whether the change was stored is unknown. Read before you repeat it"
)
PIXEL = {"data": "iVBORw0KGgo=", "mime_type": "image/png"}

ServeSmall = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def serve_small(mode: str, make_store: Callable[..., Any], wipe: Callable[[], None]) -> ServeSmall:
    """Starts a server over an empty store with five connections and the given patience."""

    @asynccontextmanager
    async def start(pool_timeout: float = 30.0) -> AsyncIterator[World]:
        settings = settings_for()
        store = make_store(mode, settings, pool_min=1, pool_max=5, pool_timeout=pool_timeout)
        async with serving(settings, store) as world:
            wipe()
            yield world

    return start


@contextmanager
def counted_connections(conninfo: str) -> Iterator[list[int]]:
    """How many more connections the test logins have than before, looked at again and again in the meantime.

    It stays empty for SQLite.
    """
    counts: list[int] = []
    if not conninfo:
        yield counts
        return
    done = threading.Event()

    def present() -> int:
        row = connection.execute(
            "select count(*) from pg_stat_activity "
            "where datname = current_database() and usename like 'pgcontext_test_%'"
        ).fetchone()
        assert row is not None
        return int(row[0])

    def count() -> None:
        while not done.is_set():
            counts.append(present() - before)

    with psycopg.connect(conninfo, autocommit=True) as connection:
        before = present()
        counting = threading.Thread(target=count)
        counting.start()
        try:
            yield counts
        finally:
            done.set()
            counting.join()


async def works(world: World, *, calls: int = 12) -> None:
    """Nothing is left of what went wrong: as many calls as there are connections, and more, succeed."""
    carol = world.as_("carol")
    stored = await together(
        carol.store_context(thread_id="after", source="user", text=str(n), deduplicate=False) for n in range(calls)
    )
    assert all(isinstance(answer, dict) for answer in stored), stored
    assert (await carol.delete_context(thread_id="after"))["deleted_count"] == calls
    metrics = (await carol.get_statistics())["connection_metrics"]
    assert metrics["size"] <= metrics["limit"]
    assert metrics["waiting"] == 0


async def test_two_hundred_calls_on_five_connections(serve_small: ServeSmall, conninfo: str) -> None:
    with counted_connections(conninfo) as counts:
        async with serve_small() as world:
            alice = world.as_("alice")
            answers = await together(
                call
                for number in range(50)
                for call in (
                    alice.store_context(thread_id="t", source="user", text=f"text {number}", tags=["x"]),
                    alice.search_context(tags=["x"], limit=5),
                    alice.list_threads(),
                    alice.get_statistics(),
                )
            )
            assert [answer for answer in answers if isinstance(answer, str)] == []
            assert len(await everything(alice)) == 50
            await works(world)
    assert max(counts, default=0) <= 5


async def test_calls_that_wait_in_vain_are_told_so(
    serve_small: ServeSmall, conninfo: str, closed_gate: CloseGate
) -> None:
    if not conninfo:
        pytest.skip("SQLite has no pool to wait for; tests/sqlite shows the same for its writer")
    with counted_connections(conninfo) as counts:
        async with serve_small(pool_timeout=1.5) as world:
            alice = world.as_("alice")
            with closed_gate(world) as gate:
                calls = [
                    asyncio.create_task(
                        outcome(
                            alice.store_context(
                                thread_id="t", source="user", text=f"text {number}", deduplicate=False
                            )
                        )
                    )
                    for number in range(200)
                ]
                await gate.crowd(5)
                waiting = set(calls)
                while len(waiting) > 5:
                    told, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                    assert {call.result() for call in told} == {BUSY}
            assert all(isinstance(answer, dict) for answer in await asyncio.gather(*waiting))
            assert len(await everything(alice)) == 5
            await works(world)
    assert max(counts) <= 5


async def test_a_caller_who_goes_away_leaves_all_or_nothing(world: World, closed_gate: CloseGate) -> None:
    alice = world.as_("alice")
    whole = {"tags": ["a", "b"], "images": [PIXEL] * 3, "metadata": {"a": 1}}
    for number in range(10):
        with closed_gate(world) as gate:
            calls = [
                asyncio.create_task(
                    alice.store_context(thread_id="t", source="user", text=f"{number} {place}", **whole)
                )
                for place in range(4)
            ]
            await gate.crowd(4)
            for call in calls[::2]:
                call.cancel()
            await asyncio.gather(*calls[::2], return_exceptions=True)
        assert all(isinstance(answer, dict) for answer in await together(calls[1::2]))
    entries = await everything(alice)
    for entry in entries:
        assert {part: entry[part] for part in whole} == whole
    kept = {f"{number} {place}" for number in range(10) for place in (1, 3)}
    assert kept <= {entry["text_content"] for entry in entries}
    await works(world, calls=25)


@pytest.mark.parametrize("layer", ["tool", "store"])
async def test_a_call_is_cancelled_at_any_step(world: World, layer: str) -> None:
    alice = world.as_("alice")
    image = Image(PIXEL["data"], PIXEL["mime_type"])

    def store(batch: int) -> Coroutine[Any, Any, Any]:
        texts = [f"{batch} {place}" for place in range(3)]
        if layer == "store":
            entries = [NewEntry("t", "user", text, {"a": 1}, ("a", "b"), (image,) * 3) for text in texts]
            return world.store.store_entries(alice.principal, entries, atomic=True)
        common = {
            "thread_id": "t",
            "source": "user",
            "metadata": {"a": 1},
            "tags": ["a", "b"],
            "images": [PIXEL] * 3,
        }
        return alice.store_context_batch(entries=[{"text": text, **common} for text in texts])

    for steps in range(60):
        call = asyncio.create_task(store(steps))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await alice.search_context(limit=1)
    await works(world, calls=25)
    entries = []
    for offset in (0, 100):
        entries += (await alice.search_context(limit=100, offset=offset, include_images=True))["results"]
    for entry in entries:
        assert (entry["metadata"], entry["tags"], entry["images"]) == ({"a": 1}, ["a", "b"], [PIXEL] * 3)
    stored = Counter(entry["text_content"].split()[0] for entry in entries)
    assert set(stored.values()) <= {3}


async def test_a_connection_is_fit_for_use_after_any_cancelled_call(
    mode: str, make_store: Callable[..., Any], wipe: Callable[[], None]
) -> None:
    """Also when that call was the one with which psycopg begins to prepare its statements, the sixth."""
    alice = Principal("alice")
    store = make_store(mode, pool_min=1, pool_max=1)
    for steps in range(12):
        await store.open()
        wipe()
        entries = [NewEntry("t", "user", "x", deduplicate=False)]
        for _ in range(5):
            await store.store_entries(alice, entries, atomic=True)
        call = asyncio.create_task(store.store_entries(alice, entries, atomic=True))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        for _ in range(2):
            await store.store_entries(alice, entries, atomic=True)
        assert (await store.get_statistics(alice)).total_entries in (7, 8)
        await store.close()


async def test_ten_bad_inputs_do_not_lock_out_the_eleventh(serve_small: ServeSmall) -> None:
    async with serve_small(pool_timeout=5.0) as world:
        alice, bob = world.as_("alice"), world.as_("bob")
        entry_id = await alice.store("x", visibility="public")
        bad = [
            lambda: bob.update_context(context_id=entry_id, text="y"),
            lambda: bob.delete_context(context_ids=[entry_id]),
            lambda: bob.share_context(
                context_id=entry_id, principal_type="user", principal_id="bob", permission="write"
            ),
            lambda: alice.share_context(
                context_id=entry_id, principal_type="user", principal_id="alice", permission="write"
            ),
            lambda: alice.update_context(context_id="0" * 32, metadata_patch={"a": 1}),
            lambda: alice.store_context(thread_id="t", source="user", text="\x00"),
            lambda: alice.search_context(start_date="yesterday"),
        ]
        for call in bad:
            for answer in [
                *(await together(call() for _ in range(10))),
                *[await outcome(call()) for _ in range(3)],
            ]:
                assert isinstance(answer, str)
                assert answer != BUSY
            assert isinstance(await outcome(alice.store_context(thread_id="t", source="user", text="good")), dict)
        await works(world)


_OTHERS = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


@pytest.fixture
def cut(conninfo: str) -> Callable[[], int]:
    """Breaks every connection of the server to its database; how many."""
    if not conninfo:
        pytest.skip("SQLite has no connections that could break")

    def terminate() -> int:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            broken = connection.execute(f"select pg_terminate_backend(pid) {_OTHERS}").rowcount
            while connection.execute(f"select pid {_OTHERS}").fetchone():
                pass
        return broken

    return terminate


async def test_reads_go_on_after_every_connection_broke(world: World, cut: Callable[[], int]) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("x")
    for concurrent in (1, 1, 5, 20):
        await works(world, calls=20)
        assert cut() > 1
        answers = await together(alice.get_context_by_ids(context_ids=[entry_id]) for _ in range(concurrent))
        assert [answer for answer in answers if isinstance(answer, str)] == []


async def test_writes_go_on_after_every_connection_broke(world: World, cut: Callable[[], int]) -> None:
    alice = world.as_("alice")
    for number in range(5):
        await works(world, calls=20)
        assert cut() > 1
        first = await outcome(alice.store_context(thread_id="t", source="user", text=f"text {number}"))
        assert isinstance(first, dict) or first == INTERRUPTED
        second = await outcome(alice.store_context(thread_id="t", source="user", text=f"text {number}"))
        assert isinstance(second, dict), second
    assert len(await everything(alice)) == 5


async def test_a_connection_that_breaks_during_a_write_leaves_nothing_of_it(
    world: World, cut: Callable[[], int], conninfo: str, closed_gate: CloseGate
) -> None:
    alice = world.as_("alice")
    with closed_gate(world) as gate:
        calls = [
            asyncio.create_task(
                outcome(alice.store_context(thread_id="t", source="user", text=f"text {number}", images=[PIXEL]))
            )
            for number in range(5)
        ]
        await gate.crowd(5)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(f"select pg_terminate_backend(pid) {_OTHERS} and wait_event_type = 'Lock'")
        assert await together(calls) == [INTERRUPTED] * 5
    assert await everything(alice) == []
    await works(world)
