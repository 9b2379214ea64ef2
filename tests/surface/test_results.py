"""What the tools answer when all goes well."""

from __future__ import annotations

import base64
import json
from typing import Any

import jsonschema
import pytest

from pgcontext.tools.dispatch import describe_tool
from pgcontext.tools.registry import ALL_TOOLS
from support.world import Person
from surface.another_server import Serve

PNG = base64.b64encode(b"\x89PNG fake").decode()
OUTPUT_SCHEMAS = {tool.name: describe_tool(tool).output_schema for tool in ALL_TOOLS}
STORED = {
    "thread_id": "t",
    "source": "user",
    "text": "hello",
    "tags": ["a"],
    "metadata": {"status": None, "n": 1e20},
}


async def calls_of_every_tool(person: Person) -> list[tuple[str, dict[str, Any]]]:
    """Successful calls, every tool and every shape of result at least once."""
    first = await person.store("first", images=[{"data": PNG, "mime_type": "image/png", "metadata": ""}])
    second = await person.store("second", source="user")
    grant = {"context_id": first, "principal_type": "user", "principal_id": "bob", "permission": "read"}
    broken = {"thread_id": "t", "source": "user"}
    return [
        ("store_context", STORED),
        ("store_context", STORED),
        ("search_context", {"include_images": True, "explain_query": True}),
        ("search_context", {"metadata_filters": [{"key": "..", "operator": "eq"}], "explain_query": True}),
        *(
            (tool, {"query": query, "explain_query": True, "include_images": True, "offset": offset})
            for tool in ("hybrid_search_context", "fts_search_context", "semantic_search_context")
            for query, offset in (("first", 0), ("?!", 0), ("first", 99))
        ),
        ("fts_search_context", {"query": "first", "highlight": True}),
        ("get_context_by_ids", {"context_ids": [first, second]}),
        ("get_context_by_ids", {"context_ids": [first], "include_images": False}),
        ("update_context", {"context_id": first, "metadata_patch": {"a": 1}}),
        ("grep_context", {"pattern": "FIRST"}),
        ("grep_context", {"pattern": "^s", "is_regex": True, "output_mode": "content", "context_lines": 2}),
        ("grep_context", {"pattern": "t", "output_mode": "count"}),
        ("navigate_context", {"context_id": first}),
        ("read_context_range", {"context_id": first, "start_char": 1, "end_char": 3}),
        ("plan_context_sync", {"thread_id": "t", "manifest": [{"source_id": "a", "keep": True}]}),
        ("list_ingest_state", {"thread_id": "t"}),
        ("list_threads", {}),
        ("get_statistics", {}),
        ("store_context_batch", {"entries": [STORED, broken], "atomic": False}),
        ("update_context_batch", {"updates": [{"context_id": second, "text": "new"}]}),
        ("plan_context_sync", {"thread_id": "t", "manifest": [{"source_id": "a", "keep": True}]}),
        ("list_ingest_state", {"thread_id": "t"}),
        ("share_context", grant),
        ("share_context", grant),
        ("list_context_grants", {"context_id": first}),
        ("unshare_context", grant),
        ("unshare_context", grant),
        ("delete_context", {"context_ids": [first]}),
        ("delete_context_batch", {"thread_ids": ["t"], "source": "user"}),
    ]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_every_success_conforms_to_its_output_schema_in_both_eras(era: str, serve: Serve) -> None:
    async with serve(era) as served:
        alice = served.as_("alice")
        calls = await calls_of_every_tool(alice)
        assert {name for name, _ in calls} == set(OUTPUT_SCHEMAS)
        for name, arguments in calls:
            result = await alice.call(name, **arguments)
            assert not result.is_error, result
            jsonschema.validate(result.structured_content, OUTPUT_SCHEMAS[name])
            [content] = result.content
            assert content.type == "text"
            assert json.loads(content.text) == result.structured_content
            assert not {": ", ", "} & {content.text[place : place + 2] for place in range(30)}


async def test_a_search_result_shows_the_fields_of_the_contract_in_order(alice: Person) -> None:
    await alice.store("x" * 301)
    [entry] = (await alice.search_context())["results"]
    assert list(entry) == [
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
    ]
    assert (entry["text_content"], entry["is_text_content_truncated"]) == ("x" * 300, True)
    assert entry["summary"] == ""


async def test_images_keep_order_bytes_type_and_metadata_string(alice: Person) -> None:
    data = [base64.b64encode(bytes([number]) * 3).decode() for number in range(3)]
    images = [
        {"data": data[0], "mime_type": "image/png", "metadata": '{"a": 1}'},
        {"data": data[1], "mime_type": "image/svg+xml", "metadata": ""},
        {"data": data[2], "mime_type": "image/jpeg", "metadata": None},
    ]
    entry_id = await alice.store("with images", images=images)
    [entry] = await alice.get(entry_id)
    assert entry["content_type"] == "multimodal"
    assert entry["images"] == [images[0], images[1], {"data": data[2], "mime_type": "image/jpeg"}]
    [found] = (await alice.search_context(include_images=True))["results"]
    assert found["images"] == entry["images"]


async def test_the_images_key_is_there_exactly_when_images_are_asked_for(alice: Person) -> None:
    entry_id = await alice.store("no images")
    assert (await alice.get(entry_id))[0]["images"] == []
    bare = await alice.get_context_by_ids(context_ids=[entry_id], include_images=False)
    assert "images" not in bare["results"][0]
    assert "images" not in (await alice.search_context())["results"][0]


async def test_get_context_by_ids_has_a_summary_only_when_it_is_switched_on(alice: Person, serve: Serve) -> None:
    entry_id = await alice.store("text")
    assert "summary" not in (await alice.get(entry_id))[0]
    async with serve(get_context_by_ids_include_summary=True) as served:
        assert (await served.as_("alice").get(entry_id))[0]["summary"] == ""


async def test_null_and_large_numbers_in_metadata_come_back_as_they_are(alice: Person) -> None:
    metadata = {"none": None, "list": [None, 1.5], "big": 10**30, "exponent": 1e20, "small": 1e-7}
    entry_id = await alice.store("numbers", metadata=metadata)
    assert (await alice.get(entry_id))[0]["metadata"] == metadata


async def test_an_entry_is_found_by_the_created_at_that_a_result_shows(alice: Person) -> None:
    entry_id = await alice.store("now")
    created_at = (await alice.get(entry_id))[0]["created_at"]
    assert await alice.search(start_date=created_at, end_date=created_at) == [entry_id]


async def test_explain_query_adds_statistics_and_a_plan(alice: Person) -> None:
    await alice.store("x", tags=["a"])
    stats = (await alice.search_context(tags=["a"], metadata={"k": 1}, source="agent", explain_query=True))[
        "stats"
    ]
    assert list(stats) == ["execution_time_ms", "filters_applied", "rows_returned", "backend", "query_plan"]
    assert (stats["filters_applied"], stats["rows_returned"], stats["backend"]) == (3, 0, "sqlite")
    assert stats["query_plan"]


async def test_get_statistics_tells_what_is_there_and_what_is_not_built(alice: Person) -> None:
    await alice.store("x", tags=["a", "b"])
    statistics = await alice.get_statistics()
    assert statistics["total_entries"] == 1
    assert statistics["unique_tags"] == 2
    assert statistics["by_source"] == {"user": 0, "agent": 1}
    assert statistics["connection_metrics"]["backend"] == "sqlite"
    assert statistics["database_size_mb"] > 0
    assert statistics["semantic_search"] == {
        "enabled": True,
        "available": True,
        "model": "bag-of-words",
        "dimensions": 384,
        "embedding_count": 1,
        "pending_count": 0,
        "coverage_percentage": 100.0,
    }
    assert statistics["fts"]["indexed_entries"] == 1
    assert statistics["summary_generation"] == {"enabled": False, "available": False}
    assert statistics["index_tree"] == {"enabled": False, "node_count": 0}


async def test_list_threads_counts_the_page(alice: Person) -> None:
    for thread in "abc":
        await alice.store("x", thread_id=thread)
    assert [thread["thread_id"] for thread in (await alice.list_threads())["threads"]] == ["c", "b", "a"]
    page = await alice.list_threads(limit=2, offset=1)
    assert [thread["thread_id"] for thread in page["threads"]] == ["b", "a"]
    assert page["total_threads"] == 2
    assert (await alice.list_threads(offset=2))["total_threads"] == 3


async def test_the_server_introduces_itself(serve: Serve) -> None:
    async with serve("legacy", mcp_server_instructions="Be brief.") as served:
        assert served.client.instructions == "Be brief."
    async with serve("legacy") as served:
        assert "memory" in str(served.client.instructions)
