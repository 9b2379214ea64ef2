"""Repeated stores: when two are one entry, when they are two, and what a merge keeps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contract.helpers import IMAGE, OTHER_PIXEL, read, share, total_entries
from support.world import World

OTHER_IMAGE = {"data": OTHER_PIXEL, "mime_type": "image/gif"}


async def test_a_repeated_store_is_one_entry(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("hello")
    before = await read(alice, first)
    assert await alice.store("hello") == first
    assert await alice.store("  hello\n") == first
    assert await total_entries(alice) == 1
    assert await read(alice, first) == before


@pytest.mark.parametrize(
    "other",
    ({"text": "Hello"}, {"thread_id": "T"}, {"source": "user"}, {"deduplicate": False}, {"text": "hello there"}),
    ids=str,
)
async def test_another_text_thread_or_source_is_another_entry(world: World, other: dict[str, Any]) -> None:
    alice = world.as_("alice")
    first = await alice.store("hello")
    arguments = {"thread_id": "t", "source": "agent", "text": "hello"} | other
    assert (await alice.store_context(**arguments))["context_id"] != first
    assert await total_entries(alice) == 2


async def test_only_the_latest_entry_is_compared(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("hello")
    await alice.store("something else")
    again = await alice.store("hello")
    assert again != first
    assert await alice.store("hello") == again


async def test_a_text_repeated_after_an_answer_is_a_new_turn(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("ok", source="user")
    await alice.store("done", source="agent")
    second = await alice.store("ok", source="user")
    assert second != first
    assert await total_entries(alice) == 3


async def test_an_answer_in_another_thread_is_no_new_turn(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("ok", source="user")
    await alice.store("done", source="agent", thread_id="elsewhere")
    assert await alice.store("ok", source="user") == first


async def test_an_answer_the_caller_may_not_read_is_no_new_turn(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    first = await alice.store("ok", source="user")
    answer = await bob.store("hidden answer", source="agent")
    assert await alice.store("ok", source="user") == first
    await share(bob, answer, "alice")
    assert await alice.store("ok", source="user") != first


async def test_an_answer_before_the_entry_does_not_count(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("done", source="agent")
    first = await alice.store("ok", source="user")
    assert await alice.store("ok", source="user") == first


async def test_a_readable_entry_of_somebody_else_is_the_latest_but_never_merged_into(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store("hello")
    theirs = await bob.store("hello", visibility="public", deduplicate=False)
    again = await alice.store("hello")
    assert again not in (own, theirs)
    assert (await read(alice, again))["is_owner"] is True
    assert await total_entries(alice) == 3


async def test_a_write_grant_does_not_merge_either(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    theirs = await bob.store("hello")
    await share(bob, theirs, "alice", "write")
    before = await read(bob, theirs)
    assert await alice.store("hello", tags=["x"]) != theirs
    assert await read(bob, theirs) == before


async def test_an_entry_the_caller_may_not_read_is_no_candidate(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store("hello")
    await bob.store("hidden")
    assert await alice.store("hello") == own


async def test_a_merge_unites_tags_and_lays_metadata_over(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(
        "hello", tags=["b", "c"], metadata={"kept": 1, "changed": {"a": 1}, "null": 1}, images=[IMAGE]
    )
    before = await read(alice, entry_id)
    assert (
        await alice.store("hello", tags=["A", "b"], metadata={"changed": {"b": 2}, "new": [1], "null": None})
        == entry_id
    )
    after = await read(alice, entry_id)
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == before | {
        "tags": ["a", "b", "c"],
        "metadata": {"kept": 1, "changed": {"b": 2}, "new": [1], "null": None},
    }


async def test_a_merge_replaces_images_only_where_some_are_given(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", images=[IMAGE])
    await alice.store("hello", tags=["x"])
    assert (await read(alice, entry_id))["images"] == [IMAGE]
    await alice.store("hello", images=[OTHER_IMAGE, IMAGE])
    assert (await read(alice, entry_id))["images"] == [OTHER_IMAGE, IMAGE]
    await alice.store("hello", images=[])
    entry = await read(alice, entry_id)
    assert (entry["images"], entry["content_type"]) == ([], "text")


async def test_a_merge_can_make_a_text_multimodal(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert await alice.store("hello", images=[IMAGE]) == entry_id
    assert (await read(alice, entry_id))["content_type"] == "multimodal"


async def test_a_merge_leaves_visibility_and_grants(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob")
    assert await alice.store("hello", visibility="public", tags=["x"]) == entry_id
    assert (await read(bob, entry_id))["visibility"] == "private"
    assert await world.as_("stranger").search() == []


async def test_without_deduplication_every_store_is_a_new_entry(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("hello", visibility="public", deduplicate=False)
    second = await alice.store("hello", visibility="private", deduplicate=False)
    assert [entry["visibility"] for entry in await alice.get(first, second)] == ["public", "private"]
    assert await alice.store("hello") == second


async def test_eight_identical_stores_at_the_same_moment_make_one_entry(world: World) -> None:
    alice = world.as_("alice")
    for number in range(5):
        ids = await asyncio.gather(*(alice.store(f"hello {number}", tags=[str(item)]) for item in range(8)))
        assert len(set(ids)) == 1
        assert (await read(alice, ids[0]))["tags"] == [str(item) for item in range(8)]
    assert await total_entries(alice) == 5


async def test_a_retried_batch_makes_no_duplicates(world: World) -> None:
    alice = world.as_("alice")
    entries = [{"thread_id": f"thread {number}", "source": "agent", "text": "hello"} for number in range(5)]
    first = await alice.store_context_batch(entries=entries)
    again = await alice.store_context_batch(entries=entries)
    assert again["results"] == first["results"]
    assert await total_entries(alice) == 5
