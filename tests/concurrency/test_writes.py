"""Writes that meet: each is as if it had been alone, or says clearly that it was not done."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Any

from concurrency.conftest import CloseGate
from concurrency.gates import everything, together
from support.world import Person, World

CHANGED = re.compile(r"Context entry with ID [0-9a-f]{32} was changed by someone else meanwhile")
NOT_FOUND = re.compile(r"Context entry (with ID )?[0-9a-f]{32} not found")
PIXEL = {"data": "iVBORw0KGgo=", "mime_type": "image/png"}


def refusals(outcomes: list[dict[str, Any] | str]) -> list[str]:
    return [refusal for refusal in outcomes if isinstance(refusal, str)]


async def test_eight_identical_stores_make_one_entry(world: World, closed_gate: CloseGate) -> None:
    alice = world.as_("alice")
    for number in range(25):
        with closed_gate(world) as gate:
            stores = [
                asyncio.create_task(
                    alice.store_context(
                        thread_id="t", source="user", text=f"text {number}", tags=[f"tag {store}"], images=[PIXEL]
                    )
                )
                for store in range(8)
            ]
            await gate.crowd(8)
        stored = await together(stores)
        assert refusals(stored) == []
        assert Counter(answer["message"] for answer in stored) == {  # type: ignore[index]
            "Stored": 1,
            "Merged into the identical entry stored before": 7,
        }
        assert len({answer["context_id"] for answer in stored}) == 1  # type: ignore[index]
        newest = (await everything(alice))[0]
        assert newest["tags"] == [f"tag {store}" for store in range(8)]
        assert newest["images"] == [PIXEL]
    assert len(await everything(alice)) == 25


async def test_reads_pass_a_write_that_waits(world: World, closed_gate: CloseGate) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("there")
    with closed_gate(world) as gate:
        write = asyncio.create_task(alice.store("late"))
        await gate.crowd(1)
        async with asyncio.timeout(10):
            assert [entry["id"] for entry in await everything(alice)] == [entry_id]
            assert (await alice.get_statistics())["connection_metrics"]["in_use"] >= 1
        assert not write.done()
    await write
    assert len(await everything(alice)) == 2


async def test_identical_stores_of_different_people_are_entries_of_their_own(world: World) -> None:
    people = [world.as_(f"person {number}") for number in range(8)]
    await together(person.store_context(thread_id="t", source="user", text="ok") for person in people)
    assert [len(await everything(person)) for person in people] == [1] * 8


async def test_everything_at_once_on_one_entry_ends_in_a_result_or_says_not_found(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    for number in range(30):
        entry_id = await alice.store(f"entry {number}", metadata={"a": 1}, images=[PIXEL])
        share = {"context_id": entry_id, "principal_type": "user", "principal_id": "bob", "permission": "write"}
        await alice.share_context(**share)
        deletions = [alice.delete_context(context_ids=[entry_id]), alice.delete_context(thread_id="t")]
        others = [
            alice.update_context(context_id=entry_id, text="other"),
            bob.update_context(context_id=entry_id, text="another", images=[PIXEL, PIXEL]),
            bob.update_context(context_id=entry_id, metadata_patch={"b": 2}),
            alice.update_context(context_id=entry_id, tags=["x"], visibility="public"),
            alice.unshare_context(**share),
            alice.share_context(**share),
            alice.share_context(**share | {"principal_type": "group"}),
            alice.list_context_grants(context_id=entry_id),
            bob.get_context_by_ids(context_ids=[entry_id]),
            alice.store_context(thread_id="t", source="agent", text=f"entry {number}", tags=["y"], images=[PIXEL]),
        ]
        # the deletions come at another place in every round
        place = number % len(others)
        calls = [*others[:place], *deletions, *others[place:]]
        answers = await together(calls)
        for refusal in refusals(answers):
            assert (
                NOT_FOUND.search(refusal)
                or CHANGED.search(refusal)
                or refusal.startswith("Not authorized to modify")
            ), refusal
        deleted = sum(answer["deleted_count"] for answer in answers[place : place + 2])  # type: ignore[index]
        left = await everything(alice)
        assert deleted + len(left) == len({entry_id, *(answer["context_id"] for answer in answers[-1:])})  # type: ignore[index]
        await alice.delete_context(thread_id="t")


async def test_of_two_text_updates_one_wins_and_the_other_is_told(world: World, closed_gate: CloseGate) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("first")
    with closed_gate(world) as gate:
        texts = ["left", "right"]
        updates = [asyncio.create_task(alice.update_context(context_id=entry_id, text=text)) for text in texts]
        await gate.crowd(2)
    answers = await together(updates)
    (refusal,) = refusals(answers)
    assert CHANGED.match(refusal)
    (winner,) = [text for text, answer in zip(texts, answers, strict=True) if answer != refusal]
    assert [entry["text_content"] for entry in await everything(alice)] == [winner]


async def test_no_update_that_succeeds_overwrites_what_it_did_not_see(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("first")
    for number in range(20):
        (before,) = await world.store.get_entry_rights(alice.principal, [entry_id])
        texts = [f"{number} {caller}" for caller in "abcd"]
        answers = await together(alice.update_context(context_id=entry_id, text=text) for text in texts)
        assert all(map(CHANGED.match, refusals(answers)))
        done = [text for text, answer in zip(texts, answers, strict=True) if isinstance(answer, dict)]
        (after,) = await world.store.get_entry_rights(alice.principal, [entry_id])
        assert after.version - before.version == len(done) > 0
        (entry,) = await everything(alice)
        assert entry["text_content"] in done


async def test_a_batch_that_changes_an_entry_twice_does_not_overwrite_either(
    world: World, closed_gate: CloseGate
) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("first")
    with closed_gate(world) as gate:
        single = asyncio.create_task(alice.update_context(context_id=entry_id, text="of the single call"))
        await gate.crowd(1)
        updates = [{"context_id": entry_id, "text": text} for text in ("of the batch", "of the batch again")]
        batch = asyncio.create_task(alice.update_context_batch(updates=updates, atomic=False))
        await gate.crowd(2)
    alone, result = await together([single, batch])
    assert isinstance(result, dict)
    if isinstance(alone, dict):
        assert [CHANGED.match(item["error"]) is not None for item in result["results"]] == [True, True]
    else:
        assert CHANGED.match(alone)
        assert result["succeeded"] == 2
    text = "of the single call" if isinstance(alone, dict) else "of the batch again"
    assert [entry["text_content"] for entry in await everything(alice)] == [text]


async def test_patches_of_different_keys_all_survive(world: World, closed_gate: CloseGate) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("x", metadata={"kept": True, "nested": {}})
    with closed_gate(world) as gate:
        patches = [
            asyncio.create_task(
                alice.update_context(
                    context_id=entry_id, metadata_patch={f"k{number}": number, "nested": {f"n{number}": 1}}
                )
            )
            for number in range(10)
        ]
        await gate.crowd(10)
    assert refusals(await together(patches)) == []
    (entry,) = await everything(alice)
    assert entry["metadata"] == {
        "kept": True,
        **{f"k{number}": number for number in range(10)},
        "nested": {f"n{number}": 1 for number in range(10)},
    }


async def test_a_patch_and_a_repeated_store_lose_nothing_of_each_other(
    world: World, closed_gate: CloseGate
) -> None:
    alice = world.as_("alice")
    for number in range(10):
        entry_id = await alice.store(f"text {number}", tags=["old"], metadata={"old": 1})
        with closed_gate(world) as gate:
            calls = [
                asyncio.create_task(call)
                for call in (
                    alice.update_context(context_id=entry_id, metadata_patch={"patched": 1}),
                    alice.store_context(
                        thread_id="t", source="agent", text=f"text {number}", tags=["new"], metadata={"merged": 1}
                    ),
                )[:: 1 if number % 2 else -1]
            ]
            await gate.crowd(2)
        assert refusals(await together(calls)) == []
        (entry,) = await alice.get(entry_id)
        assert entry["metadata"] == {"old": 1, "patched": 1, "merged": 1}
        assert entry["tags"] == ["new", "old"]


async def test_a_store_that_repeats_a_text_changed_meanwhile_is_an_entry_of_its_own(
    world: World, closed_gate: CloseGate
) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("said")
    with closed_gate(world) as gate:
        update = asyncio.create_task(alice.update_context(context_id=entry_id, text="changed"))
        await gate.crowd(1)
        repeated = asyncio.create_task(alice.store("said"))
        await gate.crowd(2)
    await update
    # had it come before the change, it would have met the text
    texts = {"changed"} if await repeated == entry_id else {"said", "changed"}
    assert {entry["text_content"] for entry in await everything(alice)} == texts


async def test_a_store_that_repeats_a_deleted_text_is_never_lost(world: World, closed_gate: CloseGate) -> None:
    alice = world.as_("alice")
    for images in ([], [PIXEL], [PIXEL, PIXEL]):
        entry_id = await alice.store("said", images=[PIXEL])
        with closed_gate(world) as gate:
            deletion = asyncio.create_task(alice.delete_context(context_ids=[entry_id]))
            await gate.crowd(1)
            repeated = asyncio.create_task(alice.store("said", images=images))
            await gate.crowd(2)
        assert (await deletion)["deleted_count"] == 1
        # what was deleted had been met before; what is new is there
        stored_id = await repeated
        assert [entry["id"] for entry in await everything(alice)] == [stored_id] * (stored_id != entry_id)
        await alice.delete_context(thread_id="t")


async def test_batches_in_opposite_orders_do_not_lock_each_other_out(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    ids = [await alice.store(f"entry {number}", thread_id=f"t{number}") for number in range(10)]
    for entry_id in ids:
        await alice.share_context(
            context_id=entry_id, principal_type="user", principal_id="bob", permission="write"
        )
    for number in range(10):

        def update(key: str, *, number: int = number) -> list[dict[str, Any]]:
            return [{"context_id": entry_id, "metadata_patch": {f"{key}{number}": 1}} for entry_id in ids]

        def store(tag: str, *, number: int = number) -> list[dict[str, Any]]:
            return [
                {"thread_id": f"t{place}", "source": "agent", "text": f"entry {place}", "tags": [f"{tag}{number}"]}
                for place in range(10)
            ]

        answers = await together(
            [
                alice.update_context_batch(updates=update("a")),
                bob.update_context_batch(updates=update("b")[::-1]),
                alice.store_context_batch(entries=store("c")),
                alice.store_context_batch(entries=store("d")[::-1]),
                bob.update_context_batch(updates=update("e"), atomic=False),
                alice.update_context_batch(updates=update("f")[::-1], atomic=False),
            ]
        )
        assert refusals(answers) == []
        assert [answer["failed"] for answer in answers] == [0] * 6  # type: ignore[index]
    entries = await everything(alice)
    assert len(entries) == 10
    for entry in entries:
        assert set(entry["metadata"]) == {f"{key}{number}" for key in "abef" for number in range(10)}
        assert set(entry["tags"]) == {f"{tag}{number}" for tag in "cd" for number in range(10)}


async def test_batches_that_store_into_the_same_threads_in_opposite_orders(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    for number in range(10):
        entries = [
            {"thread_id": f"t{place}", "source": "user", "text": f"round {number}", "images": [PIXEL]}
            for place in range(10)
        ]
        answers = await together(
            person.store_context_batch(entries=order)
            for person in (alice, bob)
            for order in (entries, entries[::-1], entries[5:] + entries[:5])
        )
        assert refusals(answers) == []
    for person in (alice, bob):
        threads = (await person.list_threads())["threads"]
        assert [thread["entry_count"] for thread in threads] == [10] * 10


async def test_deletions_in_opposite_orders_beside_updates(world: World) -> None:
    alice = world.as_("alice")
    for _ in range(10):
        ids = [await alice.store(f"entry {number}", deduplicate=False) for number in range(5)]
        updates = [{"context_id": entry_id, "metadata_patch": {"a": 1}} for entry_id in ids]
        answers = await together(
            [
                alice.delete_context(context_ids=ids),
                alice.update_context_batch(updates=updates[::-1], atomic=False),
                alice.delete_context(context_ids=ids[::-1]),
                alice.update_context_batch(updates=updates),
                alice.delete_context_batch(thread_ids=["t"], source="agent"),
            ]
        )
        for refusal in refusals(answers):
            assert NOT_FOUND.match(refusal), refusal
        deleted = [answer["deleted_count"] for answer in answers if "deleted_count" in answer]  # type: ignore[index]
        assert sum(deleted) == 5
        assert await everything(alice) == []


async def test_a_thread_is_deleted_beside_stores_into_it(world: World) -> None:
    alice = world.as_("alice")
    for number in range(10):
        stores = [
            alice.store_context(thread_id="t", source="user", text=f"{number} {place}", images=[PIXEL], tags=["x"])
            for place in range(12)
        ]
        deletions = [alice.delete_context(thread_id="t") for _ in range(3)]
        answers = await together(call for four in range(3) for call in (*stores[four::3], deletions[four]))
        assert refusals(answers) == []
        deleted = sum(answer.get("deleted_count", 0) for answer in answers)  # type: ignore[union-attr]
        left = await everything(alice)
        assert deleted + len(left) == 12
        assert all(entry["images"] == [PIXEL] and entry["tags"] == ["x"] for entry in left)
        await alice.delete_context(thread_id="t")


async def test_threads_are_counted_right_whoever_writes_them_at_once(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    threads = [f"t{place}" for place in range(6)]
    for number in range(8):
        stored = [
            {"thread_id": thread, "source": "user", "text": f"round {number}", "images": [PIXEL]}
            for thread in threads
        ]
        ids = [await alice.store(f"entry {number}", thread_id=thread) for thread in threads]
        publish = [{"context_id": entry_id, "visibility": "public"} for entry_id in ids]
        answers = await together(
            [
                alice.store_context_batch(entries=stored),
                alice.update_context_batch(updates=publish),
                bob.store_context_batch(entries=[entry | {"visibility": "public"} for entry in stored[::-1]]),
                alice.store_context_batch(entries=[entry | {"deduplicate": False} for entry in stored[::-1]]),
                alice.delete_context_batch(thread_ids=threads[:2], source="agent"),
                alice.store_context_batch(
                    entries=[entry | {"source": "agent"} for entry in stored[3:] + stored[:3]]
                ),
                bob.delete_context(thread_id=threads[-1]),
                alice.update_context_batch(
                    updates=[{"context_id": entry_id, "images": [PIXEL]} for entry_id in ids[::-1]], atomic=False
                ),
            ]
        )
        for refusal in refusals(answers):
            assert NOT_FOUND.search(refusal), refusal
        for person in (alice, bob):
            listed = (await person.list_threads())["threads"]
            assert {thread["thread_id"]: thread for thread in listed} == {
                thread["thread_id"]: thread
                for thread in [await _counted(person, thread) for thread in threads]
                if thread
            }
    for person in (alice, bob):
        for thread in threads:
            await person.delete_context(thread_id=thread)
        assert (await person.get_statistics())["total_entries"] == len(await everything(person))
    assert (await alice.list_threads())["threads"] == []


async def _counted(person: Person, thread_id: str) -> dict[str, Any] | None:
    """The figures of a thread, counted over the entries that a search finds in it."""
    entries = await everything(person, thread_id=thread_id)
    return entries and {
        "thread_id": thread_id,
        "entry_count": len(entries),
        "source_types": len({entry["source"] for entry in entries}),
        "multimodal_count": sum(entry["content_type"] == "multimodal" for entry in entries),
        "first_entry": entries[-1]["created_at"],
        "last_entry": entries[0]["created_at"],
        "last_id": entries[0]["id"],
    }
