"""search_context: which entries are found, in which order and on which page, and what a result shows of them."""

from __future__ import annotations

from typing import Any

import pytest

from contract.helpers import IMAGE, Backdate, ServeWith, refusal
from support.world import World

FIELDS = {
    "id",
    "thread_id",
    "source",
    "content_type",
    "text_content",
    "summary",
    "is_text_content_truncated",
    "metadata",
    "tags",
    "created_at",
    "updated_at",
    "visibility",
    "is_owner",
}


async def test_without_filters_everything_readable_is_listed_newest_first(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    ids = [await alice.store(f"text {number}", thread_id=f"thread {number % 2}") for number in range(4)]
    ids.append(await bob.store("public", visibility="public"))
    await bob.store("hidden")
    assert await alice.search() == ids[::-1]


async def test_entries_of_the_same_moment_are_listed_by_id_descending(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    ids = [await alice.store(f"text {number}") for number in range(5)]
    for entry_id in (ids[1], ids[4], ids[0], ids[2]):
        backdate(entry_id, "2026-03-14T12:00:00.123456+00:00")
    assert await alice.search() == [ids[3], ids[4], ids[2], ids[1], ids[0]]


async def test_an_update_does_not_move_an_entry_to_the_front(world: World) -> None:
    alice = world.as_("alice")
    first, second = await alice.store("first"), await alice.store("second")
    await alice.update_context(context_id=first, text="changed")
    assert await alice.search() == [second, first]


async def test_a_result_has_exactly_the_fields_of_the_contract(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(
        "hello", thread_id="project", source="user", tags=["x"], metadata={"a": 1}, images=[IMAGE]
    )
    found = await alice.search_context()
    assert found.keys() == {"results", "count"}
    assert found["count"] == 1
    (entry,) = found["results"]
    assert entry.keys() == FIELDS
    assert {name: entry[name] for name in FIELDS - {"created_at", "updated_at"}} == {
        "id": entry_id,
        "thread_id": "project",
        "source": "user",
        "content_type": "multimodal",
        "text_content": "hello",
        "summary": "",
        "is_text_content_truncated": False,
        "metadata": {"a": 1},
        "tags": ["x"],
        "visibility": "private",
        "is_owner": True,
    }


async def test_images_are_included_only_when_asked_for(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("with", images=[IMAGE])
    await alice.store("without")
    plain = await alice.search_context()
    assert all("images" not in entry for entry in plain["results"])
    full = await alice.search_context(include_images=True)
    assert [entry["images"] for entry in full["results"]] == [[], [IMAGE]]


async def test_texts_are_cut_after_300_characters(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("🙂" * 300)
    await alice.store("é" * 301)
    await alice.store("x" * 100_000)
    found = [
        (entry["text_content"], entry["is_text_content_truncated"])
        for entry in (await alice.search_context())["results"]
    ]
    assert found == [("x" * 300, True), ("é" * 300, True), ("🙂" * 300, False)]


async def test_where_texts_are_cut_is_a_setting(serve_with: ServeWith) -> None:
    async with serve_with(search_truncation_length=50) as world:
        alice = world.as_("alice")
        await alice.store("🙂" * 51)
        (entry,) = (await alice.search_context())["results"]
        assert (entry["text_content"], entry["is_text_content_truncated"]) == ("🙂" * 50, True)


async def test_thread_source_tags_and_content_type_narrow_the_search_together(world: World) -> None:
    alice = world.as_("alice")
    ids = {
        "one": await alice.store("one", thread_id="a", source="user", tags=["red", "green"]),
        "two": await alice.store("two", thread_id="a", source="agent", tags=["blue"], images=[IMAGE]),
        "three": await alice.store("three", thread_id="b", source="user", images=[IMAGE]),
        "four": await alice.store("four", thread_id="A", source="agent", tags=["red"]),
    }
    cases: list[tuple[dict[str, Any], str]] = [
        ({"thread_id": "a"}, "two one"),
        ({"thread_id": "A"}, "four"),
        ({"thread_id": "a "}, ""),
        ({"source": "user"}, "three one"),
        ({"tags": ["red"]}, "four one"),
        ({"tags": ["blue", "green"]}, "two one"),
        ({"tags": [" RED ", "nowhere"]}, "four one"),
        ({"tags": ["re"]}, ""),
        ({"tags": []}, "four three two one"),
        ({"content_type": "multimodal"}, "three two"),
        ({"content_type": "text"}, "four one"),
        ({"thread_id": "a", "source": "agent", "tags": ["blue"], "content_type": "multimodal"}, "two"),
        ({"thread_id": "b", "tags": ["red"]}, ""),
    ]
    for filters, expected in cases:
        assert await alice.search(**filters) == [ids[name] for name in expected.split()], filters


async def test_a_page_is_a_window_into_one_order(world: World) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(
        entries=[{"thread_id": "t", "source": "agent", "text": f"text {number}"} for number in range(70)]
    )
    newest_first = [item["context_id"] for item in stored["results"]][::-1]
    assert await alice.search() == newest_first[:30]
    assert await alice.search(limit=100) == newest_first
    pages = [await alice.search(limit=32, offset=offset) for offset in (0, 32, 64, 96)]
    assert pages == [newest_first[:32], newest_first[32:64], newest_first[64:], []]
    last = await alice.search_context(limit=1, offset=69)
    assert (last["count"], last["results"][0]["id"]) == (1, newest_first[69])


@pytest.mark.parametrize(
    "arguments",
    (
        {"limit": 0},
        {"limit": 101},
        {"limit": -1},
        {"limit": 2**63},
        {"limit": 1.5},
        {"limit": "many"},
        {"limit": True},
        {"offset": -1},
        {"offset": 2**63},
        {"source": "assistant"},
        {"content_type": "image"},
        {"tags": ["x"] * 101},
        {"tags": ["  "]},
        {"tags": ["fine", " "]},
        {"tags": "red"},
        {"tags": [1]},
        {"metadata": {f"key{number}": 1 for number in range(101)}},
        {"metadata_filters": [{"key": "a", "operator": "exists"}] * 101},
        {"metadata": ["a"]},
        {"metadata_filters": {"key": "a"}},
        {"thread_id": ""},
        {"thread_id": "x" * 257},
        {"thread_id": 5},
        {"explain_query": "perhaps"},
    ),
    ids=lambda arguments: str(arguments)[:40],
)
async def test_an_argument_out_of_bounds_is_an_error_that_names_it(
    module_world: World, arguments: dict[str, Any]
) -> None:
    (name,) = arguments
    assert name in await refusal(module_world.as_("alice").search_context(**arguments))


async def test_100_tags_filters_and_keys_are_allowed(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(
        "hello", tags=["tag 99"], metadata={f"key{number}": number for number in range(100)}
    )
    assert await alice.search(tags=[f"tag {number}" for number in range(100)]) == [entry_id]
    assert await alice.search(metadata={f"key{number}": number for number in range(100)}) == [entry_id]
    filters = [{"key": f"key{number}", "operator": "eq", "value": number} for number in range(100)]
    assert await alice.search(metadata_filters=filters) == [entry_id]


@pytest.mark.parametrize(
    "arguments", ({"limit": "5", "offset": "0"}, {"limit": 5.0}, {"limit": None, "tags": None})
)
async def test_numbers_as_text_and_nulls_are_understood(world: World, arguments: dict[str, Any]) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert await alice.search(**arguments) == [entry_id]


async def test_explain_query_adds_statistics_and_a_real_plan(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await alice.store("one", tags=["x"], metadata={"status": "open", "n": 1})
    await alice.store("two", thread_id="other")
    await bob.store("hidden", tags=["x"], metadata={"status": "open", "n": 2})
    found = await alice.search_context(
        thread_id="t",
        tags=["x"],
        metadata={"status": "open"},
        metadata_filters=[{"key": "n", "operator": "gt", "value": 0}],
        start_date="2020-01-01",
        explain_query=True,
    )
    assert found["count"] == 1
    stats = found["stats"]
    assert stats.keys() == {"execution_time_ms", "filters_applied", "rows_returned", "backend", "query_plan"}
    assert stats["execution_time_ms"] >= 0
    assert stats["filters_applied"] == 5
    assert stats["rows_returned"] == 1
    assert stats["backend"] == world.store.backend
    assert ("SEARCH" if world.store.backend == "sqlite" else "cost=") in stats["query_plan"]


async def test_statistics_are_absent_unless_asked_for(world: World) -> None:
    alice = world.as_("alice")
    assert "stats" not in await alice.search_context()
    assert "stats" not in await alice.search_context(explain_query=False)


async def test_the_plan_shows_no_identity_but_the_callers_own(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await world.as_("somebody else").store("hidden words", thread_id="hidden thread")
    stats = (await alice.search_context(explain_query=True))["stats"]
    for trace in (entry_id, "somebody else", "hidden"):
        assert trace not in stats["query_plan"]
