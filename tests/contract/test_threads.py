"""list_threads: figures over readable entries alone, latest activity first."""

from __future__ import annotations

from typing import Any

import pytest

from contract.helpers import IMAGE, Backdate, read, refusal, share
from support.world import Person, World

FIELDS = {
    "thread_id",
    "entry_count",
    "source_types",
    "multimodal_count",
    "first_entry",
    "last_entry",
    "last_id",
}


async def threads(person: Person, **page: Any) -> list[str]:
    """The ids of the threads listed."""
    return [thread["thread_id"] for thread in (await person.list_threads(**page))["threads"]]


async def test_a_thread_has_exactly_the_figures_of_the_contract(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("one", source="user", images=[IMAGE])
    await alice.store("two", source="user")
    last = await alice.store("three", source="agent", images=[IMAGE, IMAGE])
    listed = await alice.list_threads()
    assert listed.keys() == {"threads", "total_threads"}
    assert listed["total_threads"] == 1
    (thread,) = listed["threads"]
    assert thread.keys() == FIELDS
    assert thread == {
        "thread_id": "t",
        "entry_count": 3,
        "source_types": 2,
        "multimodal_count": 2,
        "first_entry": (await read(alice, first))["created_at"],
        "last_entry": (await read(alice, last))["created_at"],
        "last_id": last,
    }


async def test_threads_are_listed_by_latest_activity(world: World) -> None:
    alice = world.as_("alice")
    for number, thread_id in enumerate("abcab"):
        await alice.store(f"text {number}", thread_id=thread_id)
    assert await threads(alice) == ["b", "a", "c"]


async def test_threads_active_at_the_same_moment_are_listed_by_latest_id(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    ids = [await alice.store(f"text {number}", thread_id=thread_id) for number, thread_id in enumerate("abca")]
    for entry_id in ids:
        backdate(entry_id, "2026-03-14T12:00:00+00:00")
    listed = (await alice.list_threads())["threads"]
    assert [(thread["thread_id"], thread["last_id"]) for thread in listed] == [
        ("a", ids[3]),
        ("c", ids[2]),
        ("b", ids[1]),
    ]


async def test_the_latest_entry_is_the_latest_by_time_and_not_by_id(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    first, second = await alice.store("one"), await alice.store("two")
    backdate(second, "2020-01-01T00:00:00+00:00")
    (thread,) = (await alice.list_threads())["threads"]
    assert thread["last_id"] == first
    assert thread["first_entry"] == "2020-01-01T00:00:00.000000Z"


async def test_all_threads_are_listed_unless_a_limit_is_given(world: World) -> None:
    alice = world.as_("alice")
    await alice.store_context_batch(
        entries=[{"thread_id": f"thread {number:03}", "source": "user", "text": "x"} for number in range(100)]
    )
    await alice.store_context_batch(
        entries=[{"thread_id": f"thread {number:03}", "source": "user", "text": "x"} for number in range(100, 130)]
    )
    listed = await alice.list_threads()
    assert listed["total_threads"] == len(listed["threads"]) == 130


async def test_limit_and_offset_cut_a_page_out_of_the_order(world: World) -> None:
    alice = world.as_("alice")
    for thread_id in "abcde":
        await alice.store("x", thread_id=thread_id)
    assert await threads(alice, limit=2) == ["e", "d"]
    assert await threads(alice, limit=2, offset=1) == ["d", "c"]
    assert await threads(alice, limit=2, offset=4) == ["a"]
    assert await threads(alice, limit=2, offset=5) == []
    page = await alice.list_threads(limit=2, offset=4)
    assert page["total_threads"] == 1


async def test_an_offset_without_a_limit_is_ignored(world: World) -> None:
    alice = world.as_("alice")
    for thread_id in "abc":
        await alice.store("x", thread_id=thread_id)
    assert await threads(alice, offset=2) == ["c", "b", "a"]
    assert await threads(alice, offset=2, limit=None) == ["c", "b", "a"]


@pytest.mark.parametrize(
    "page", ({"limit": 0}, {"limit": 101}, {"limit": 1, "offset": -1}, {"limit": "x"}), ids=str
)
async def test_a_page_out_of_bounds_is_an_error(module_world: World, page: dict[str, Any]) -> None:
    words = await refusal(module_world.as_("alice").list_threads(**page))
    assert ("offset" if "offset" in page else "limit") in words


async def test_a_thread_of_hidden_entries_is_not_listed(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await bob.store("hidden", thread_id="secret plans")
    assert await alice.list_threads() == {"threads": [], "total_threads": 0}


async def test_every_figure_of_a_thread_counts_only_readable_entries(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await bob.store("first, hidden", source="user", images=[IMAGE])
    own = await alice.store("mine", source="agent")
    shared = await bob.store("shared", source="agent", images=[IMAGE])
    await bob.store("last, hidden", source="user")
    await share(bob, shared, "alice")
    (thread,) = (await alice.list_threads())["threads"]
    assert thread == {
        "thread_id": "t",
        "entry_count": 2,
        "source_types": 1,
        "multimodal_count": 1,
        "first_entry": (await read(alice, own))["created_at"],
        "last_entry": (await read(alice, shared))["created_at"],
        "last_id": shared,
    }


async def test_a_hidden_entry_of_the_same_moment_is_not_the_latest(world: World, backdate: Backdate) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own, hidden = await alice.store("mine"), await bob.store("hidden")
    for entry_id in (own, hidden):
        backdate(entry_id, "2026-03-14T12:00:00+00:00")
    assert hidden > own
    (thread,) = (await alice.list_threads())["threads"]
    assert thread["last_id"] == own


async def test_a_hidden_entry_neither_moves_a_thread_nor_takes_its_place_on_a_page(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    for thread_id in "ab":
        await alice.store("x", thread_id=thread_id)
    await bob.store("hidden", thread_id="a")
    await bob.store("hidden", thread_id="z")
    assert await threads(alice) == ["b", "a"]
    assert await threads(alice, limit=1, offset=1) == ["a"]


async def test_thread_ids_that_differ_in_case_or_accents_are_different_threads(world: World) -> None:
    alice = world.as_("alice")
    ids = ["plan", "Plan", "plän", "pla\u0308n", "plan "]
    for thread_id in ids:
        await alice.store("x", thread_id=thread_id)
    assert await threads(alice) == ids[::-1]
