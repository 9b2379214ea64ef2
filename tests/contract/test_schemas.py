"""What a client sees of the tools: plain schemas, results that conform to them, errors that are tool errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from mcp_types import CallToolResult
from mcp_types import Tool as ToolDescription

from contract.helpers import IMAGE, UNKNOWN_ID, ServeWith, text_of
from support.options import settings_for
from support.world import Person, World, serving

TOOLS = {
    "store_context": {"thread_id", "source", "text", "images", "metadata", "tags", "visibility", "deduplicate"},
    "search_context": {
        "thread_id",
        "source",
        "tags",
        "content_type",
        "metadata",
        "metadata_filters",
        "start_date",
        "end_date",
        "limit",
        "offset",
        "include_images",
        "explain_query",
    },
    "get_context_by_ids": {"context_ids", "include_images"},
    "update_context": {"context_id", "text", "metadata", "metadata_patch", "tags", "images", "visibility"},
    "delete_context": {"context_ids", "thread_id"},
    "list_threads": {"limit", "offset"},
    "plan_context_sync": {
        "thread_id",
        "manifest",
        "source_id_after",
        "source_id_through",
        "allow_empty_manifest",
    },
    "list_ingest_state": {"thread_id", "limit", "cursor"},
    "get_statistics": set(),
    "store_context_batch": {"entries", "atomic"},
    "update_context_batch": {"updates", "atomic"},
    "delete_context_batch": {"context_ids", "thread_ids", "source", "older_than_days"},
    "share_context": {"context_id", "principal_type", "principal_id", "permission"},
    "unshare_context": {"context_id", "principal_type", "principal_id", "permission"},
    "list_context_grants": {"context_id"},
    "grep_context": {
        *("pattern", "is_regex", "case_sensitive", "output_mode", "context_lines", "max_matches"),
        *("max_entries_scanned", "thread_id", "source", "tags", "metadata_filters", "content_type"),
    },
    "navigate_context": {"context_id", "max_depth", "include_node_summaries"},
    "read_context_range": {"context_id", "start_char", "end_char", "start_line", "end_line", "node_id"},
}
FILTERS = {
    *("thread_id", "source", "tags", "content_type", "metadata", "metadata_filters", "start_date", "end_date"),
}
RANKED = {"query", "limit", "offset", "include_images", "explain_query"} | FILTERS
TOOLS |= {
    "hybrid_search_context": RANKED | {"fusion_method", "rrf_k"},
    "fts_search_context": RANKED | {"mode", "highlight"},
    "semantic_search_context": RANKED,
}
RANKED_TOOLS = ("hybrid_search_context", "fts_search_context", "semantic_search_context")
REQUIRED = {
    "store_context": {"thread_id", "source", "text"},
    "get_context_by_ids": {"context_ids"},
    "update_context": {"context_id"},
    "store_context_batch": {"entries"},
    "update_context_batch": {"updates"},
    "plan_context_sync": {"thread_id", "manifest"},
    "list_ingest_state": {"thread_id"},
    "share_context": TOOLS["share_context"],
    "unshare_context": TOOLS["share_context"],
    "list_context_grants": {"context_id"},
    "grep_context": {"pattern"},
    "navigate_context": {"context_id"},
    "read_context_range": {"context_id"},
    **{tool: {"query"} for tool in RANKED_TOOLS},
}
DEFAULTS = {
    ("grep_context", "is_regex"): False,
    ("grep_context", "case_sensitive"): False,
    ("grep_context", "output_mode"): "files_with_matches",
    ("grep_context", "context_lines"): 0,
    ("grep_context", "max_matches"): 100,
    ("navigate_context", "max_depth"): 6,
    ("navigate_context", "include_node_summaries"): False,
    ("store_context", "deduplicate"): True,
    ("search_context", "limit"): 30,
    ("search_context", "offset"): 0,
    ("search_context", "include_images"): False,
    ("search_context", "explain_query"): False,
    **{(tool, "limit"): 5 for tool in RANKED_TOOLS},
    **{(tool, "offset"): 0 for tool in RANKED_TOOLS},
    **{(tool, "include_images"): False for tool in RANKED_TOOLS},
    **{(tool, "explain_query"): False for tool in RANKED_TOOLS},
    ("hybrid_search_context", "fusion_method"): "rrf",
    ("fts_search_context", "mode"): "match",
    ("fts_search_context", "highlight"): False,
    ("get_context_by_ids", "include_images"): True,
    ("list_threads", "offset"): 0,
    ("plan_context_sync", "allow_empty_manifest"): False,
    ("list_ingest_state", "limit"): 100,
    ("store_context_batch", "atomic"): True,
    ("update_context_batch", "atomic"): True,
}
UNWANTED = {"$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not"}


@pytest.fixture(scope="module")
async def tools(module_world: World) -> dict[str, ToolDescription]:
    """The tools as the client lists them, by name."""
    return {tool.name: tool for tool in (await module_world.client.list_tools()).tools}


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and every schema inside it."""
    yield schema
    for part in (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, dict):
            yield from subschemas(part)


async def test_all_tools_are_listed_with_their_parameters(tools: dict[str, ToolDescription]) -> None:
    listed = {name: set(tool.input_schema.get("properties", {})) for name, tool in tools.items()}
    assert listed == TOOLS
    assert {name: set(tool.input_schema.get("required", ())) for name, tool in tools.items()} == {
        name: REQUIRED.get(name, set()) for name in TOOLS
    }


async def test_the_defaults_of_the_contract_are_in_the_schemas(tools: dict[str, ToolDescription]) -> None:
    listed = {
        (name, parameter): schema["default"]
        for name, tool in tools.items()
        for parameter, schema in tool.input_schema["properties"].items()
        if "default" in schema
    }
    assert listed == DEFAULTS


async def test_schemas_are_plain(tools: dict[str, ToolDescription]) -> None:
    for name, tool in tools.items():
        for schema in (tool.input_schema, tool.output_schema):
            assert schema is not None
            assert schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)
            for part in subschemas(schema):
                assert not UNWANTED & part.keys(), (name, part)
                assert not isinstance(part.get("type"), list), (name, part)
                if part.get("type") == "array":
                    assert part["items"], (name, part)
                if "enum" in part:
                    assert None not in part["enum"]


async def test_every_parameter_has_a_type_except_the_value_of_a_filter(tools: dict[str, ToolDescription]) -> None:
    for name, tool in tools.items():
        filters = tool.input_schema["properties"].get("metadata_filters", {}).get("items", {"properties": {}})
        for part in subschemas(tool.input_schema):
            assert "type" in part or part is filters["properties"]["value"], (name, part)


ENTRY = {
    "thread_id": "t",
    "source": "user",
    "text": "hello",
    "images": [{**IMAGE, "metadata": "{}"}],
    "metadata": {"any": ["thing"]},
    "tags": ["a"],
    "visibility": "public",
    "deduplicate": False,
}
UPDATE = {"context_id": UNKNOWN_ID[:8]} | {
    name: ENTRY[name] for name in ("text", "images", "metadata", "tags", "visibility")
}
GRANT = {"context_id": UNKNOWN_ID, "principal_type": "group", "principal_id": "team", "permission": "write"}
CONDITIONS = [
    {"key": "a.b", "operator": "in", "value": [1, "two", True], "case_sensitive": True},
    {"key": "c", "operator": "exists"},
]
FULL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "store_context": ENTRY,
    "search_context": {
        "thread_id": "t",
        "source": "agent",
        "tags": ["a"],
        "content_type": "text",
        "metadata": {"a": 1},
        "metadata_filters": CONDITIONS,
        "start_date": "2026-03-14",
        "end_date": "2026-03-14T10:00:00Z",
        "limit": 100,
        "offset": 1000,
        "include_images": True,
        "explain_query": True,
    },
    "get_context_by_ids": {"context_ids": [UNKNOWN_ID] * 100, "include_images": False},
    "update_context": UPDATE | {"metadata_patch": {"a": None}},
    "delete_context": {"context_ids": [UNKNOWN_ID], "thread_id": "t"},
    "list_threads": {"limit": 1, "offset": 0},
    "get_statistics": {},
    "store_context_batch": {"entries": [ENTRY] * 100, "atomic": False},
    "update_context_batch": {"updates": [UPDATE] * 100, "atomic": False},
    "delete_context_batch": {
        "context_ids": [UNKNOWN_ID],
        "thread_ids": ["t"],
        "source": "user",
        "older_than_days": 1,
    },
    "plan_context_sync": {
        "thread_id": "kb:handbook",
        "manifest": [{"source_id": "a", "text_digest": "0" * 64, "meta_digest": "f" * 64}] * 999
        + [{"source_id": "b", "keep": True}],
        "source_id_after": "A",
        "source_id_through": "c",
        "allow_empty_manifest": True,
    },
    "list_ingest_state": {"thread_id": "kb:handbook", "limit": 200, "cursor": "abc"},
    "share_context": GRANT,
    "unshare_context": GRANT,
    "list_context_grants": {"context_id": UNKNOWN_ID},
    "grep_context": {
        "pattern": "a+",
        "is_regex": True,
        "case_sensitive": True,
        "output_mode": "content",
        "context_lines": 100,
        "max_matches": 1000,
        "max_entries_scanned": 5000,
        "thread_id": "t",
        "source": "agent",
        "tags": ["a"],
        "metadata_filters": CONDITIONS,
        "content_type": "text",
    },
    "navigate_context": {"context_id": UNKNOWN_ID, "max_depth": 2, "include_node_summaries": True},
    "read_context_range": {
        "context_id": UNKNOWN_ID,
        "start_char": 0,
        "end_char": 10**9,
        "start_line": 1,
        "end_line": 2,
        "node_id": "setup/install",
    },
}
FULL_ARGUMENTS |= {
    "hybrid_search_context": FULL_ARGUMENTS["search_context"]
    | {"query": "x" * 10_000, "fusion_method": "convex", "rrf_k": 1000},
    "fts_search_context": FULL_ARGUMENTS["search_context"]
    | {"query": "alpha AND NOT beta", "mode": "boolean", "highlight": True},
    "semantic_search_context": FULL_ARGUMENTS["search_context"] | {"query": "alpha"},
}


async def test_the_arguments_of_the_contract_conform_to_the_input_schemas(
    tools: dict[str, ToolDescription],
) -> None:
    for name, tool in tools.items():
        assert FULL_ARGUMENTS[name].keys() == TOOLS[name]
        jsonschema.validate(FULL_ARGUMENTS[name], strict(tool.input_schema))


async def test_the_items_of_batches_are_described_like_single_calls(tools: dict[str, ToolDescription]) -> None:
    for batch, parameter, single in (
        ("store_context_batch", "entries", "store_context"),
        ("update_context_batch", "updates", "update_context"),
    ):
        items = tools[batch].input_schema["properties"][parameter]
        assert items["maxItems"] == 100
        assert items["items"] == tools[single].input_schema


async def test_every_tool_says_when_to_use_it_and_what_it_may_do(tools: dict[str, ToolDescription]) -> None:
    reading = {
        *("search_context", "get_context_by_ids", "list_threads", "get_statistics", "list_context_grants"),
        *("grep_context", "navigate_context", "read_context_range", "plan_context_sync"),
        *("list_ingest_state", *RANKED_TOOLS),
    }
    destructive = {name for name in TOOLS if name.startswith(("update", "delete", "unshare"))}
    for name, tool in tools.items():
        assert tool.description
        assert 20 <= len(tool.description) <= 300, name
        hints = tool.annotations
        assert hints is not None
        assert hints.read_only_hint is (name in reading), name
        assert hints.destructive_hint is (name in destructive), name
        assert hints.open_world_hint is False


async def test_the_server_introduces_itself(module_world: World) -> None:
    assert len(module_world.client.instructions or "") > 100


async def test_the_introduction_is_a_setting(serve_with: ServeWith) -> None:
    async with serve_with(mcp_server_instructions="Ask first.") as world:
        assert world.client.instructions == "Ask first."


def sync_calls() -> list[tuple[str, dict[str, Any]]]:
    """Two documents, then a plan with every part and a page that is not the last."""
    digest = "0" * 64
    block = {"scope": "kb", "meta_digest": digest, "synced_at": "2026-03-14T10:00:00Z"}
    documents = [
        {"thread_id": "kb", "source": "agent", "text": "x", "metadata": {"ingest": {**block, "source_id": name}}}
        for name in ("changed", "absent")
    ]
    named = [{"source_id": name, "text_digest": digest, "meta_digest": digest} for name in ("changed", "new")]
    return [
        *(("store_context", document | {"deduplicate": False}) for document in documents),
        ("plan_context_sync", {"thread_id": "kb", "manifest": named}),
        ("list_ingest_state", {"thread_id": "kb", "limit": 1}),
        ("list_ingest_state", {"thread_id": "kb"}),
    ]


async def scenario(alice: Person) -> list[tuple[str, dict[str, Any]]]:
    """Calls that together bring out every part of every result."""
    entry_id = await alice.store(
        "x" * 400, images=[IMAGE, {**IMAGE, "metadata": "{}"}], tags=["a"], metadata={"n": 1}
    )
    doomed = [await alice.store(f"doomed {number}", thread_id="doomed") for number in range(3)]
    grant = {"context_id": entry_id, "principal_type": "user", "principal_id": "bob", "permission": "read"}
    bad_filter = [{"key": "a b", "operator": "like"}]
    entry = {"thread_id": "batch", "source": "user", "text": "one"}
    return [
        ("store_context", entry),
        ("store_context", entry),
        ("search_context", {}),
        ("search_context", {"include_images": True, "explain_query": True}),
        ("search_context", {"metadata_filters": bad_filter}),
        ("search_context", {"metadata_filters": bad_filter, "explain_query": True}),
        ("search_context", {"thread_id": "nowhere"}),
        *(
            (tool, {"query": query, "include_images": True, "explain_query": True, "offset": offset, **filters})
            for tool in RANKED_TOOLS
            for query, offset, filters in (
                ("doomed", 0, {}),
                ("?!", 0, {}),
                ("doomed", 100, {}),
                ("doomed", 0, {"metadata_filters": bad_filter}),
            )
        ),
        ("fts_search_context", {"query": "doomed", "highlight": True}),
        ("get_context_by_ids", {"context_ids": [entry_id, doomed[0]]}),
        ("get_context_by_ids", {"context_ids": [entry_id], "include_images": False}),
        ("get_context_by_ids", {"context_ids": [UNKNOWN_ID]}),
        ("update_context", {"context_id": entry_id, "text": "changed"}),
        ("delete_context", {"context_ids": doomed[:1]}),
        ("delete_context", {"thread_id": "nowhere"}),
        ("list_threads", {}),
        ("get_statistics", {}),
        ("store_context_batch", {"entries": [entry, entry]}),
        ("store_context_batch", {"entries": [entry, {}, 5], "atomic": False}),
        ("update_context_batch", {"updates": [{"context_id": entry_id, "tags": []}]}),
        ("update_context_batch", {"updates": [{"context_id": UNKNOWN_ID, "tags": []}], "atomic": False}),
        ("delete_context_batch", {"context_ids": doomed[1:2], "source": "agent"}),
        ("delete_context_batch", {"thread_ids": ["nowhere"]}),
        *sync_calls(),
        ("list_context_grants", {"context_id": entry_id}),
        ("share_context", grant),
        ("share_context", grant),
        ("list_context_grants", {"context_id": entry_id}),
        ("unshare_context", grant),
        ("unshare_context", grant),
        ("grep_context", {"pattern": "e"}),
        ("grep_context", {"pattern": "e", "output_mode": "content", "context_lines": 1}),
        ("grep_context", {"pattern": "e$", "output_mode": "count", "is_regex": True}),
        ("grep_context", {"pattern": "e", "metadata_filters": bad_filter}),
        ("navigate_context", {"context_id": entry_id}),
        ("read_context_range", {"context_id": entry_id, "end_line": 1}),
    ]


async def test_every_success_conforms_to_the_output_schema(
    world: World, tools: dict[str, ToolDescription]
) -> None:
    alice = world.as_("alice")
    calls = await scenario(alice)
    assert {tool for tool, _ in calls} == tools.keys()
    for tool, arguments in calls:
        result = await alice.call(tool, **arguments)
        assert not result.is_error, (tool, arguments, result.content)
        schema = tools[tool].output_schema
        assert schema is not None
        jsonschema.validate(result.structured_content, strict(schema))


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, allowing nothing that it does not describe."""
    stricter = dict(schema)
    if "properties" in schema:
        stricter["properties"] = {name: strict(part) for name, part in schema["properties"].items()}
        stricter["additionalProperties"] = False
    if isinstance(schema.get("items"), dict):
        stricter["items"] = strict(schema["items"])
    return stricter


@pytest.mark.parametrize("era", ("legacy", "2026-07-28"))
async def test_both_protocol_eras_get_the_same_answers(
    mode: str, make_store: Callable[..., Any], wipe: Callable[[], None], era: str
) -> None:
    async with serving(settings_for(), make_store(mode), mode=era) as world:
        wipe()
        expected = "2025-11-25" if era == "legacy" else era
        assert world.client.protocol_version == expected
        assert len((await world.client.list_tools()).tools) == len(TOOLS)
        alice, bob = world.as_("alice"), world.as_("bob")
        entry_id = await alice.store("hello 🙂", tags=["x"])
        assert await alice.search(tags=["x"]) == [entry_id]
        assert await bob.search() == []
        assert is_tool_error(await alice.call("store_context"))
        assert is_tool_error(await alice.call("no_such_tool"))


def is_tool_error(result: CallToolResult) -> bool:
    """Whether a result is an error that an agent can read."""
    return bool(result.is_error and text_of(result))


async def test_errors_are_tool_errors_with_a_text_and_nothing_structured(world: World) -> None:
    alice = world.as_("alice")
    for tool, arguments in (
        ("store_context", {"thread_id": "t", "source": "user", "text": ""}),
        ("update_context", {"context_id": UNKNOWN_ID, "text": "x"}),
        ("get_context_by_ids", {}),
        ("no_such_tool", {}),
    ):
        result = await alice.call(tool, **arguments)
        assert is_tool_error(result), tool
        assert result.structured_content is None
        assert len(result.content) == 1


async def test_every_fault_of_a_call_is_named_at_once(world: World) -> None:
    result = await world.as_("alice").call(
        "store_context", thread_id="x" * 257, source="nobody", text="", tags=[" "], visibility="secret"
    )
    text = text_of(result)
    for parameter in ("thread_id", "source", "text", "tags", "visibility"):
        assert parameter in text


async def test_an_unknown_parameter_is_an_error_that_names_it(world: World) -> None:
    alice = world.as_("alice")
    for tool in TOOLS:
        result = await alice.call(tool, unheard_of=1)
        assert result.is_error
        assert "unheard_of" in text_of(result)
    assert await alice.search() == []
