"""store_context_batch, update_context_batch, delete_context_batch."""

from __future__ import annotations

from typing import Any

import pytest

from contract.helpers import IMAGE, UNKNOWN_ID, Backdate, read, refusal, share, total_entries
from support.world import World


def entry(text: str, **parts: Any) -> dict[str, Any]:
    """One entry of store_context_batch."""
    return {"thread_id": "t", "source": "agent", "text": text} | parts


async def test_a_batch_answers_with_one_result_per_entry_in_order(world: World) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(
        entries=[entry("one"), entry("two", source="user", tags=["X"], metadata={"a": 1}, images=[IMAGE])]
    )
    assert stored.keys() == {"success", "total", "succeeded", "failed", "results", "message"}
    assert (stored["success"], stored["total"], stored["succeeded"], stored["failed"]) == (True, 2, 2, 0)
    first, second = stored["results"]
    assert first == {"index": 0, "success": True, "context_id": first["context_id"]}
    assert second == {"index": 1, "success": True, "context_id": second["context_id"]}
    kept = await read(alice, second["context_id"])
    assert (kept["source"], kept["tags"], kept["metadata"], kept["images"]) == ("user", ["x"], {"a": 1}, [IMAGE])


async def test_entries_are_stored_in_order(world: World) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(entries=[entry(f"text {number}") for number in range(50)])
    ids = [item["context_id"] for item in stored["results"]]
    assert ids == sorted(ids)
    assert await alice.search(limit=100) == ids[::-1]


FAULTY: list[tuple[dict[str, Any], str]] = [
    (entry("x", source="nobody"), "source"),
    (entry("  "), "text"),
    (entry("x", thread_id="x" * 257), "thread_id"),
    (entry("x", tags=["x"] * 101), "tags"),
    (entry("x", tags=["x" * 129]), "tag"),
    (entry("x", metadata={"status": "x" * 513}), "status"),
    (entry("x", visibility="secret"), "visibility"),
    (entry("x", images=[{"data": "?", "mime_type": "image/png"}]), "images"),
    ({"thread_id": "t", "text": "x"}, "source"),
    (entry("nul \x00"), "text"),
    ("just a string", "object"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("faulty", "named"), FAULTY, ids=lambda value: str(value)[:40])
async def test_an_atomic_batch_with_a_faulty_entry_stores_nothing(
    world: World, faulty: dict[str, Any], named: str
) -> None:
    alice = world.as_("alice")
    words = await refusal(alice.store_context_batch(entries=[entry("fine"), faulty, entry("also fine")]))
    assert named in words
    assert words.endswith(" at index 1")
    assert await total_entries(alice) == 0


async def test_a_batch_that_is_not_atomic_stores_what_it_can(world: World) -> None:
    alice = world.as_("alice")
    entries = [entry("first"), *(faulty for faulty, _ in FAULTY), entry("last")]
    stored = await alice.store_context_batch(entries=entries, atomic=False)
    assert stored["success"] is False
    assert (stored["total"], stored["succeeded"], stored["failed"]) == (len(entries), 2, len(FAULTY))
    assert [item["index"] for item in stored["results"]] == list(range(len(entries)))
    for item, (_, named) in zip(stored["results"][1:-1], FAULTY, strict=True):
        assert item["success"] is False
        assert named in item["error"]
        assert "context_id" not in item
    ids = [stored["results"][place]["context_id"] for place in (0, -1)]
    assert await alice.search() == ids[::-1]


@pytest.mark.parametrize("tool", ("store_context_batch", "update_context_batch"))
async def test_a_batch_has_1_to_100_items(world: World, tool: str) -> None:
    alice = world.as_("alice")
    name = "entries" if tool == "store_context_batch" else "updates"
    items = [entry(f"text {number}") for number in range(101)]
    if name == "updates":
        entry_id = await alice.store("hello")
        items = [{"context_id": entry_id, "metadata_patch": {f"k{number}": 1}} for number in range(101)]
    assert name in await refusal(getattr(alice, tool)(**{name: items}))
    assert name in await refusal(getattr(alice, tool)(**{name: []}))
    assert name in await refusal(getattr(alice, tool)())
    assert (await getattr(alice, tool)(**{name: items[:100]}))["succeeded"] == 100


async def test_an_entry_can_merge_into_one_stored_earlier_in_the_batch(world: World) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(
        entries=[
            entry("hello", deduplicate=False, tags=["a"]),
            entry("hello", tags=["b"]),
            entry("hello", deduplicate=False),
            entry("hello", source="user"),
            entry("hello"),
        ]
    )
    ids = [item["context_id"] for item in stored["results"]]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 4
    assert (await read(alice, ids[0]))["tags"] == ["a", "b"]


@pytest.mark.parametrize("value", (False, 0, "false", "False", "off", "no", "0"), ids=repr)
async def test_deduplicate_takes_what_a_boolean_may_look_like(world: World, value: Any) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(entries=[entry("x"), entry("x", deduplicate=value)])
    assert stored["succeeded"] == 2
    await alice.store("x", deduplicate=value)
    assert await total_entries(alice) == 3
    on = await alice.store_context_batch(
        entries=[entry("x", deduplicate=word) for word in (True, 1, "true", "on", "yes", "1", None)]
    )
    assert on["succeeded"] == 7
    assert await total_entries(alice) == 3


@pytest.mark.parametrize("value", ("maybe", 2, [], 0.5, ""), ids=repr)
async def test_any_other_deduplicate_fails_the_entry(world: World, value: Any) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(entries=[entry("x"), entry("y", deduplicate=value)], atomic=False)
    assert [item["success"] for item in stored["results"]] == [True, False]
    assert stored["results"][1]["error"] == "deduplicate must be a boolean"
    assert await total_entries(alice) == 1


async def test_updates_are_made_in_order_and_each_has_its_result(world: World) -> None:
    alice = world.as_("alice")
    first, second = await alice.store("one"), await alice.store("two", metadata={"a": 1})
    updated = await alice.update_context_batch(
        updates=[
            {"context_id": second, "metadata_patch": {"b": 2}},
            {"context_id": first, "text": "changed", "tags": ["x"], "images": [IMAGE], "visibility": "public"},
            {"context_id": second, "metadata_patch": {"b": 3, "a": None}},
            {"context_id": second, "text": "two changed"},
        ]
    )
    assert updated["results"] == [
        {"index": index, "success": True, "context_id": entry_id}
        for index, entry_id in enumerate((second, first, second, second))
    ]
    assert (updated["success"], updated["total"], updated["succeeded"], updated["failed"]) == (True, 4, 4, 0)
    one, two = await alice.get(first, second)
    assert (one["text_content"], one["tags"], one["images"], one["visibility"]) == (
        "changed",
        ["x"],
        [IMAGE],
        "public",
    )
    assert (two["text_content"], two["metadata"]) == ("two changed", {"b": 3})


async def test_two_texts_for_one_entry_in_a_batch_are_both_made(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    updates = [{"context_id": entry_id, "text": text} for text in ("first", "second")]
    assert (await alice.update_context_batch(updates=updates))["succeeded"] == 2
    assert (await read(alice, entry_id))["text_content"] == "second"


async def test_an_atomic_batch_of_updates_is_all_or_nothing(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own, hidden = await alice.store("mine"), await bob.store("hidden")
    public = await bob.store("public", visibility="public")
    before = await read(alice, own)
    for update, words in (
        ({"context_id": UNKNOWN_ID, "text": "x"}, f"Context entry {UNKNOWN_ID} not found at index 1"),
        ({"context_id": hidden, "text": "x"}, f"Context entry {hidden} not found at index 1"),
        ({"context_id": public, "text": "x"}, f"Not authorized to modify context entry {public} at index 1"),
    ):
        updates = [{"context_id": own, "text": "changed"}, update, {"context_id": own, "tags": ["x"]}]
        assert await refusal(alice.update_context_batch(updates=updates)) == words
        assert await read(alice, own) == before
    for faulty in (
        {"context_id": own},
        {"context_id": own, "text": " "},
        {"context_id": own, "metadata": {}, "metadata_patch": {}},
        {"context_id": own, "metadata_patch": {"status": "x" * 513}},
        {"context_id": own, "tags": ["x"] * 101},
        {"text": "x"},
        {"context_id": "0190abc", "text": "x"},
    ):
        updates = [{"context_id": own, "text": "changed"}, faulty]
        assert (await refusal(alice.update_context_batch(updates=updates))).endswith(" at index 1")
        assert await read(alice, own) == before


async def test_a_batch_of_updates_that_is_not_atomic_makes_those_it_can(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own, hidden = await alice.store("mine"), await bob.store("hidden")
    public, shared = await bob.store("public", visibility="public"), await bob.store("shared")
    await share(bob, shared, "alice", "write")
    updated = await alice.update_context_batch(
        updates=[
            {"context_id": hidden, "text": "x"},
            {"context_id": public, "visibility": "private"},
            {"context_id": own, "text": "changed"},
            {"context_id": shared, "visibility": "public"},
            {"context_id": UNKNOWN_ID, "metadata_patch": {"a": 1}},
            {"context_id": own},
            {"context_id": shared, "text": "changed too"},
        ],
        atomic=False,
    )
    assert (updated["success"], updated["total"], updated["succeeded"], updated["failed"]) == (False, 7, 2, 5)
    results = updated["results"]
    assert results[:5] == [
        {"index": 0, "success": False, "error": f"Context entry {hidden} not found"},
        {"index": 1, "success": False, "error": f"Not authorized to modify context entry {public}"},
        {"index": 2, "success": True, "context_id": own},
        {"index": 3, "success": False, "error": f"Only the owner may change the visibility of context {shared}"},
        {"index": 4, "success": False, "error": f"Context entry {UNKNOWN_ID} not found"},
    ]
    assert [result["success"] for result in results[5:]] == [False, True]
    assert [entry["text_content"] for entry in await alice.get(own, public, shared)] == [
        "changed",
        "public",
        "changed too",
    ]
    assert (await read(bob, hidden))["text_content"] == "hidden"


async def test_a_batch_deletes_what_meets_all_the_criteria(world: World) -> None:
    alice = world.as_("alice")
    ids = {
        name: await alice.store(name, thread_id=name[0], source="user" if name[1] == "u" else "agent")
        for name in ("au1", "aa1", "bu1", "ba1", "cu1", "aa2")
    }
    deleted = await alice.delete_context_batch(thread_ids=["a", "b", "nowhere"], source="agent")
    assert deleted.keys() == {"success", "deleted_count", "criteria_used", "message"}
    assert (deleted["success"], deleted["deleted_count"]) == (True, 3)
    assert sorted(deleted["criteria_used"]) == ["source", "thread_ids"]
    deleted = await alice.delete_context_batch(context_ids=[ids["au1"], ids["cu1"]], thread_ids=["a"])
    assert deleted["deleted_count"] == 1
    assert await alice.search() == [ids["cu1"], ids["bu1"]]


async def test_old_entries_are_deleted_with_another_criterion(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    old, older, new = [await alice.store(text, source="user") for text in ("old", "older", "new")]
    other = await alice.store("other source", source="agent")
    for entry_id in (old, older, other):
        backdate(entry_id, "2020-01-01T00:00:00+00:00")
    kept = await alice.delete_context_batch(older_than_days=1_000_000_000, source="user")
    assert kept["deleted_count"] == 0
    by_id = await alice.delete_context_batch(older_than_days=1, context_ids=[older, new])
    assert by_id["deleted_count"] == 1
    by_source = await alice.delete_context_batch(older_than_days=30, source="user")
    assert by_source["deleted_count"] == 1
    assert sorted(by_source["criteria_used"]) == ["older_than_days", "source"]
    assert await alice.search() == [new, other]
    by_thread = await alice.delete_context_batch(older_than_days=30, thread_ids=["t"])
    assert by_thread["deleted_count"] == 1
    assert await alice.search() == [new]


@pytest.mark.parametrize(
    "criteria",
    (
        {},
        {"source": "user"},
        {"older_than_days": 1},
        {"context_ids": None, "thread_ids": None},
        {"thread_ids": []},
        {"thread_ids": [], "source": "user"},
        {"context_ids": [], "source": "user"},
        {"thread_ids": ["t"], "older_than_days": 0},
        {"thread_ids": ["t"], "older_than_days": -1},
        {"thread_ids": ["t"], "older_than_days": 1.5},
        {"thread_ids": ["t"], "source": "assistant"},
        {"thread_ids": ["t"] * 101},
        {"thread_ids": [" "]},
        {"context_ids": [UNKNOWN_ID] * 101},
    ),
    ids=lambda criteria: str(criteria)[:40],
)
async def test_missing_weak_and_malformed_criteria_delete_nothing(world: World, criteria: dict[str, Any]) -> None:
    alice = world.as_("alice")
    await alice.store("hello", source="user")
    await refusal(alice.delete_context_batch(**criteria))
    assert await total_entries(alice) == 1


async def test_named_entries_of_others_refuse_a_batch_only_when_they_match(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own, public = await alice.store("mine"), await bob.store("public", visibility="public")
    words = await refusal(alice.delete_context_batch(context_ids=[own, public], source="agent"))
    assert words == f"Not authorized to delete context entries: {public}"
    assert await total_entries(alice) == 2
    deleted = await alice.delete_context_batch(context_ids=[own, public], source="user")
    assert deleted["deleted_count"] == 0
    deleted = await alice.delete_context_batch(thread_ids=["t"], source="agent")
    assert deleted["deleted_count"] == 1
    assert await alice.search() == [public]


async def test_a_batch_neither_matches_nor_counts_hidden_entries(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own, hidden = await alice.store("mine"), await bob.store("hidden")
    deleted = await alice.delete_context_batch(context_ids=[hidden, own, UNKNOWN_ID], thread_ids=["t"])
    assert deleted["deleted_count"] == 1
    assert (await alice.delete_context_batch(thread_ids=["t"]))["deleted_count"] == 0
    assert await total_entries(bob) == 1
