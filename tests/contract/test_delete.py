"""delete_context: the caller's own entries, by id or by thread, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from contract.helpers import IMAGE, UNKNOWN_ID, read, refusal, share, total_entries
from support.world import World


async def test_named_entries_are_gone_with_their_tags_images_and_grants(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello", tags=["x"], images=[IMAGE], metadata={"status": "open"})
    await share(alice, entry_id, "bob", "write")
    kept = await alice.store("kept")
    deleted = await alice.delete_context(context_ids=[entry_id])
    assert deleted["success"] is True
    assert deleted["deleted_count"] == 1
    assert await alice.search() == [kept]
    assert await bob.search() == []
    statistics = await alice.get_statistics()
    assert (statistics["total_images"], statistics["unique_tags"]) == (0, 0)
    for person in (alice, bob):
        words = await refusal(person.list_context_grants(context_id=entry_id))
        assert words == f"Context entry with ID {entry_id} not found"


async def test_a_thread_is_deleted_as_far_as_it_is_the_callers_own(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await alice.store("one")
    await alice.store("two", source="user")
    elsewhere = await alice.store("elsewhere", thread_id="T")
    public = await bob.store("public", visibility="public")
    shared, hidden = await bob.store("shared"), await bob.store("hidden")
    await share(bob, shared, "alice", "write")
    deleted = await alice.delete_context(thread_id="t")
    assert deleted["deleted_count"] == 2
    assert await alice.search() == [shared, public, elsewhere]
    assert len(await bob.get(public, shared, hidden)) == 3


async def test_a_thread_without_own_entries_deletes_nothing_and_is_no_error(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await bob.store("hidden", thread_id="theirs")
    missing = await alice.delete_context(thread_id="nowhere")
    hidden = await alice.delete_context(thread_id="theirs")
    assert missing == hidden
    assert missing["deleted_count"] == 0
    assert await total_entries(bob) == 1


async def test_missing_and_hidden_ids_are_skipped_and_not_counted(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own, hidden = await alice.store("mine"), await bob.store("hidden")
    deleted = await alice.delete_context(context_ids=[hidden, own, UNKNOWN_ID])
    assert deleted["deleted_count"] == 1
    again = await alice.delete_context(context_ids=[own])
    assert again["deleted_count"] == 0
    assert again == await alice.delete_context(context_ids=[hidden])
    assert await total_entries(bob) == 1


async def test_one_readable_entry_of_another_owner_refuses_the_whole_call(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store("mine")
    public = await bob.store("public", visibility="public")
    shared, hidden = await bob.store("shared"), await bob.store("hidden")
    await share(bob, shared, "alice", "write")
    words = await refusal(alice.delete_context(context_ids=[own, public, hidden]))
    assert words == f"Not authorized to delete context entries: {public}"
    words = await refusal(alice.delete_context(context_ids=[shared[:31], hidden, own, public.upper()]))
    assert words == f"Not authorized to delete context entries: {shared}, {public}"
    assert await total_entries(alice) == 3
    assert await total_entries(bob) == 3


@pytest.mark.parametrize(
    "arguments",
    (
        {},
        {"context_ids": None, "thread_id": None},
        {"context_ids": [UNKNOWN_ID], "thread_id": "t"},
        {"context_ids": [], "thread_id": "t"},
        {"context_ids": []},
        {"thread_id": ""},
        {"thread_id": "  "},
        {"context_ids": [UNKNOWN_ID] * 101},
        {"thread_id": "t", "source": "user"},
    ),
    ids=lambda arguments: str(arguments)[:40],
)
async def test_exactly_one_of_ids_and_thread_must_be_given(world: World, arguments: dict[str, Any]) -> None:
    alice = world.as_("alice")
    await alice.store("hello")
    await refusal(alice.delete_context(**arguments))
    assert await total_entries(alice) == 1


async def test_a_deleted_entry_can_be_stored_again_as_a_new_one(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", tags=["x"])
    await alice.delete_context(context_ids=[entry_id])
    again = await alice.store("hello")
    assert again != entry_id
    assert (await read(alice, again))["tags"] == []
