"""The three ranked searches: fields, pages, scores, warnings, and that only readable entries count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from contract.helpers import IMAGE, ServeWith, refusal, share
from contract.test_search import FIELDS
from pgcontext.generation.base import EmbeddingFailed
from support.generators import BagOfWords, bag_of_words, builtin
from support.options import settings_for
from support.world import Person, World, serving

TOOLS = ("fts_search_context", "semantic_search_context", "hybrid_search_context")
HEADS = {
    "fts_search_context": {"mode": "match", "language": "english", "fts_available": True},
    "semantic_search_context": {"model": "bag-of-words"},
    "hybrid_search_context": {"fusion_method": "rrf", "search_modes_used": ["fts", "semantic"]},
}
SCORES = {
    "fts_search_context": {"fts_score", "fts_rank", "rerank_score"},
    "semantic_search_context": {"semantic_distance", "semantic_rank", "rerank_score"},
    "hybrid_search_context": {
        *("rrf", "fts_rank", "semantic_rank", "fts_score", "semantic_distance", "rerank_score"),
    },
}


async def find(person: Person, tool: str, query: str, **arguments: Any) -> list[str]:
    """The ids that a ranked search finds, best first."""
    return [entry["id"] for entry in (await getattr(person, tool)(query=query, **arguments))["results"]]


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_result_has_exactly_the_fields_of_the_contract(world: World, tool: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("the quick brown fox", tags=["x"], metadata={"a": 1}, images=[IMAGE])
    found = await getattr(alice, tool)(query="fox")
    counts = {"fts_count": 1, "semantic_count": 1} if tool.startswith("hybrid") else {}
    assert {name: part for name, part in found.items() if name != "results"} == {
        "query": "fox",
        "count": 1,
        **HEADS[tool],
        **counts,
    }
    (entry,) = found["results"]
    assert entry.keys() == FIELDS | {"scores", "passage"}
    assert entry["id"] == entry_id
    assert entry["passage"] == {"start_char": 0, "end_char": len("the quick brown fox")}
    assert entry["scores"].keys() == SCORES[tool]
    assert "images" in (await getattr(alice, tool)(query="fox", include_images=True))["results"][0]


async def test_scores_of_both_legs_stand_beside_the_fused_one(world: World) -> None:
    alice = world.as_("alice")
    both = await alice.store("alpha beta gamma delta")
    near = await alice.store("unrelated words here")
    found = await alice.hybrid_search_context(query="alpha beta")
    first, second = found["results"]
    assert (first["id"], second["id"]) == (both, near)
    assert (first["scores"]["fts_rank"], first["scores"]["semantic_rank"]) == (1, 1)
    assert first["scores"]["rrf"] == pytest.approx(1 / 61 + 1 / 61)
    assert (second["scores"]["fts_rank"], second["scores"]["semantic_rank"]) == (None, 2)
    assert second["scores"]["fts_score"] is None
    assert second["scores"]["rrf"] == pytest.approx(1 / 62)
    assert 0 <= first["scores"]["semantic_distance"] < second["scores"]["semantic_distance"]


async def test_the_smoothing_of_rrf_and_the_method_can_be_chosen(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("alpha beta")
    found = await alice.hybrid_search_context(query="alpha", rrf_k=1)
    assert found["results"][0]["scores"]["rrf"] == pytest.approx(1)
    found = await alice.hybrid_search_context(query="alpha", fusion_method="convex")
    assert (found["fusion_method"], found["results"][0]["scores"]["rrf"]) == ("convex", pytest.approx(1))
    assert "rrf_k" in await refusal(alice.hybrid_search_context(query="alpha", rrf_k=1001))
    assert "fusion_method" in await refusal(alice.hybrid_search_context(query="alpha", fusion_method="best"))


@pytest.mark.parametrize("tool", TOOLS)
async def test_pages_are_windows_into_one_order(world: World, tool: str) -> None:
    """60 entries of the same text, none is skipped and none comes twice."""
    alice = world.as_("alice")
    entries = [
        {"thread_id": f"t{number % 7}", "source": "agent", "text": "the same words", "deduplicate": False}
        for number in range(60)
    ]
    stored = await alice.store_context_batch(entries=entries)
    pages = [await find(alice, tool, "same words", limit=10, offset=offset) for offset in range(0, 60, 10)]
    seen = [entry_id for page in pages for entry_id in page]
    assert len(seen) == 60
    assert set(seen) == {item["context_id"] for item in stored["results"]}
    assert await find(alice, tool, "same words", limit=60) == seen


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_window_past_the_depth_says_so(world: World, tool: str) -> None:
    alice = world.as_("alice")
    for begin in (0, 60):
        entries = [
            {"thread_id": "t", "source": "agent", "text": f"word {begin + number}", "deduplicate": False}
            for number in range(60)
        ]
        await alice.store_context_batch(entries=entries)
    search = getattr(alice, tool)
    whole = await search(query="word", limit=100)
    assert (whole["count"], "rank_depth_limit" in whole) == (100, False)
    short = await search(query="word", limit=10, offset=95)
    assert short["count"] == 5
    assert short["rank_depth_limit"] == {"requested_offset": 95, "requested_limit": 10, "rank_depth": 100}
    empty = await search(query="word", limit=10, offset=100)
    assert (empty["results"], empty["count"], empty["rank_depth_limit"]["requested_offset"]) == ([], 0, 100)


@pytest.mark.parametrize("tool", TOOLS)
async def test_every_filter_narrows_a_ranked_search(world: World, tool: str) -> None:
    alice = world.as_("alice")
    wanted = await alice.store(
        "common words", thread_id="one", source="user", tags=["x"], metadata={"n": 5}, images=[IMAGE]
    )
    await alice.store("common words", thread_id="two")
    for filters in (
        {"thread_id": "one"},
        {"source": "user"},
        {"tags": ["x"]},
        {"content_type": "multimodal"},
        {"metadata": {"n": 5}},
        {"metadata_filters": [{"key": "n", "operator": "gt", "value": 4}]},
    ):
        assert await find(alice, tool, "common words", **filters) == [wanted]
    assert await find(alice, tool, "common words", end_date="2001-01-01") == []


@pytest.mark.parametrize("tool", TOOLS)
async def test_wrong_filters_are_listed(world: World, tool: str) -> None:
    alice = world.as_("alice")
    wrong = {"metadata_filters": [{"key": "..", "operator": "eq", "value": 1}]}
    found = await getattr(alice, tool)(query="x", explain_query=True, **wrong)
    assert (found["results"], found["count"]) == ([], 0)
    assert found["error"] == "Metadata filter validation failed"
    assert len(found["validation_errors"]) == 1
    assert found["stats"]["rows_returned"] == 0


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_hidden_near_duplicate_takes_no_slot_and_changes_no_score(world: World, tool: str) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    for number in range(12):
        await alice.store(f"report {number} about quick brown foxes", thread_id=f"t{number % 3}")
    arguments = {"query": "quick report about foxes", "limit": 10, "thread_id": "t1"}
    before = await getattr(alice, tool)(**arguments)
    for number in range(12):
        await bob.store(f"quick report about foxes {number}", thread_id="t1")
        await alice.store(f"quick report about foxes {number}", thread_id="elsewhere")
    assert await getattr(alice, tool)(**arguments) == before


@pytest.mark.parametrize("tool", TOOLS)
async def test_what_is_shared_is_found_and_what_is_unshared_is_not(world: World, tool: str) -> None:
    alice, bob = world.as_("alice"), world.as_("bob", groups=("team",))
    entry_id = await alice.store("a secret recipe")
    assert await find(bob, tool, "secret recipe") == []
    await share(alice, entry_id, "team", "read", "group")
    assert await find(bob, tool, "secret recipe") == [entry_id]
    await alice.unshare_context(
        context_id=entry_id, principal_type="group", principal_id="team", permission="read"
    )
    assert await find(bob, tool, "secret recipe") == []


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_changed_or_deleted_text_is_found_no_more(world: World, tool: str) -> None:
    alice = world.as_("alice")
    entry_id, other = await alice.store("about apples"), await alice.store("about pears")
    await alice.update_context(context_id=entry_id, text="about bananas")
    assert (await find(alice, tool, "bananas"))[0] == entry_id
    if tool == "fts_search_context":
        assert await find(alice, tool, "apples") == []
    await alice.delete_context(context_ids=[entry_id])
    assert await find(alice, tool, "about") == [other]


async def test_the_passage_of_a_long_text_is_where_the_match_lies(world: World) -> None:
    alice = world.as_("alice")
    text = "nothing to see. " * 300 + "the treasure lies here. " + "nothing to see. " * 300
    entry_id = await alice.store(text)
    for tool in TOOLS:
        (entry,) = (await getattr(alice, tool)(query="treasure"))["results"]
        begin, end = entry["passage"]["start_char"], entry["passage"]["end_char"]
        assert "treasure lies here" in text[begin:end]
        read = await alice.read_context_range(context_id=entry_id, start_char=begin, end_char=end)
        assert read["text"] == text[begin:end]


async def test_words_of_all_parts_of_a_long_text_count_together(world: World) -> None:
    alice = world.as_("alice")
    text = "needle " + "filler words here. " * 400 + " haystack"
    entry_id = await alice.store(text)
    assert await find(alice, "fts_search_context", "needle haystack") == [entry_id]
    assert await find(alice, "fts_search_context", "needle AND NOT haystack", mode="boolean") == []


async def test_the_modes_of_full_text_search(world: World) -> None:
    alice = world.as_("alice")
    first = await alice.store("errors are handled in the parser")
    second = await alice.store("the handling of an error by parsers")
    third = await alice.store("error handling")
    fts = "fts_search_context"
    assert set(await find(alice, fts, "handle error")) == {first, second, third}
    assert await find(alice, fts, "error handling", mode="phrase") == [third]
    assert set(await find(alice, fts, "pars", mode="prefix")) == {first, second}
    assert await find(alice, fts, "error AND NOT parser", mode="boolean") == [third]
    assert set(await find(alice, fts, '"error handling" OR parser', mode="boolean")) == {first, second, third}


@pytest.mark.parametrize(
    "query",
    ["C++", "foo OR", '"unterminated', "NEAR(", "-band", "'", "AND", "()", "a:b", "*", "NOT", "{x}", "^y", "\\"],
)
@pytest.mark.parametrize("kind", ["match", "prefix", "phrase", "boolean"])
async def test_whatever_is_typed_is_no_error(world: World, query: str, kind: str) -> None:
    alice = world.as_("alice")
    await alice.store("a text")
    await alice.fts_search_context(query=query, mode=kind)
    await alice.hybrid_search_context(query=query)


async def test_an_empty_or_long_query_is_refused(world: World) -> None:
    alice = world.as_("alice")
    for tool in TOOLS:
        assert "query" in await refusal(getattr(alice, tool)(query="  "))
        assert "query" in await refusal(getattr(alice, tool)(query="x" * 10_001))
        assert "query" in await refusal(getattr(alice, tool)(query="a\x00b"))


async def test_identifiers_and_cjk_are_found(world: World) -> None:
    alice = world.as_("alice")
    texts = ["see POL-358", "on 2026-03-14", "foo-bar", "main.py", "getUserById", "今天玩成语接龙游戏"]
    ids = [await alice.store(text) for text in texts]
    queries = {"POL-358": 0, "2026-03-14": 1, "foo-bar": 2, "main": 3, "user": 4, "成语接龙": 5, "游戏": 5}
    for query, place in queries.items():
        assert await find(alice, "fts_search_context", query) == [ids[place]], query


async def test_a_query_of_stop_words_alone_is_searched_and_explained(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("The Who played")
    found = await alice.fts_search_context(query="the who")
    assert [entry["id"] for entry in found["results"]] == [entry_id]


async def test_highlights_mark_what_matched(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("Errors are handled; <b>error</b> handling matters.")
    (entry,) = (await alice.fts_search_context(query="handle errors", highlight=True))["results"]
    assert entry["highlighted"] == (
        "<mark>Errors</mark> are <mark>handled</mark>; <b><mark>error</mark></b> <mark>handling</mark> matters."
    )


async def test_explaining_a_hybrid_search_tells_of_both_legs(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("alpha beta")
    await alice.store("gamma delta")
    stats = (await alice.hybrid_search_context(query="alpha", explain_query=True, source="agent"))["stats"]
    assert stats["fusion_stats"] == {
        "rrf_k": 60,
        "total_unique_documents": 2,
        "documents_in_both": 1,
        "documents_fts_only": 0,
        "documents_semantic_only": 1,
    }
    assert (stats["filters_applied"], stats["rows_returned"]) == (1, 2)
    assert stats["fts_stats"]["query_plan"]
    assert stats["semantic_stats"]["query_plan"]
    assert stats["semantic_stats"]["embedding_generation_ms"] >= 0
    assert stats["adaptive_fts_mode"]


async def test_what_cannot_be_embedded_is_stored_and_found_by_words(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("an unembeddable treasure")
    assert await find(alice, "fts_search_context", "treasure") == [entry_id]
    assert await find(alice, "hybrid_search_context", "treasure") == [entry_id]
    assert await find(alice, "semantic_search_context", "treasure") == []


class _NoQueries(BagOfWords):
    async def embed_query(self, text: str) -> Any:
        raise EmbeddingFailed("out of order")


async def test_a_query_that_cannot_be_embedded_is_searched_by_words_with_a_warning(
    mode: str, make_store: Callable[..., Any], wipe: Callable[[], None]
) -> None:
    settings = settings_for()
    generators = bag_of_words(settings)
    failing = replace(generators, queries=type(generators.queries)(_NoQueries(), timeout=1))
    async with serving(settings, make_store(mode, settings), generators=failing) as world:
        wipe()
        alice = world.as_("alice")
        entry_id = await alice.store("a treasure")
        found = await alice.hybrid_search_context(query="treasure")
        assert [entry["id"] for entry in found["results"]] == [entry_id]
        assert found["search_modes_used"] == ["fts"]
        assert len(found["warnings"]) == 1
        assert await refusal(alice.semantic_search_context(query="treasure"))


@pytest.mark.parametrize(
    ("off", "tools", "modes"),
    [
        ({"enable_fts": "false"}, {"semantic_search_context", "hybrid_search_context"}, ["semantic"]),
        ({"enable_semantic_search": "false"}, {"fts_search_context", "hybrid_search_context"}, ["fts"]),
        ({"enable_hybrid_search": "false"}, {"fts_search_context", "semantic_search_context"}, None),
        ({"embedding_provider": "none"}, {"fts_search_context", "hybrid_search_context"}, ["fts"]),
        ({"embedding_provider": "none", "enable_fts": "false"}, set(), None),
    ],
)
async def test_features_can_be_switched_off(
    serve_with: ServeWith, off: dict[str, str], tools: set[str], modes: list[str] | None
) -> None:
    async with serve_with(**off) as world:
        listed = {tool.name for tool in (await world.client.list_tools()).tools}
        assert listed & set(TOOLS) == tools
        if modes:
            alice = world.as_("alice")
            await alice.store("a treasure")
            found = await alice.hybrid_search_context(query="treasure")
            assert (found["search_modes_used"], found["count"]) == (modes, 1)


async def test_the_built_in_model_finds_by_meaning_and_reranks(
    mode: str, make_store: Callable[..., Any], wipe: Callable[[], None]
) -> None:
    settings = settings_for()
    async with serving(settings, make_store(mode, settings), generators=builtin(settings)) as world:
        wipe()
        alice = world.as_("alice")
        wanted = await alice.store("The physician prescribed antibiotics for the infection.")
        for text in ("The train to Paris leaves at noon.", "We painted the kitchen blue.", "Stocks fell again."):
            await alice.store(text)
        for tool in ("semantic_search_context", "hybrid_search_context"):
            found = await getattr(alice, tool)(query="What did the doctor give the patient?")
            assert found["results"][0]["id"] == wanted
            scores = [entry["scores"]["rerank_score"] for entry in found["results"]]
            assert scores == sorted(scores, reverse=True)
            assert all(0 <= score <= 1 for score in scores)
