"""What tools/list shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from pgcontext.contracts.schema import plain_response_schema, plain_schema
from pgcontext.errors import StartRefused
from pgcontext.tools.dispatch import Toolbox, describe_tool
from pgcontext.tools.registry import ALL_TOOLS, enabled_tools
from support.generators import bag_of_words
from support.options import settings_for
from support.world import ToolRefused, World
from surface.another_server import Serve

WRITERS = {
    "store_context",
    "update_context",
    "delete_context",
    "store_context_batch",
    "update_context_batch",
    "delete_context_batch",
    "share_context",
    "unshare_context",
}
SCHEMAS = [
    pytest.param(schema, id=f"{tool.name}-{kind}")
    for tool in ALL_TOOLS
    for kind, schema in (
        ("input", describe_tool(tool).input_schema),
        ("output", describe_tool(tool).output_schema),
    )
]


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(part)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas_are_plain(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert not node.keys() & {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title", "additionalProperties"}
        assert isinstance(node.get("type", ""), str)
        assert "items" in node or node.get("type") != "array"
        assert "type" in node or "description" in node


def test_there_are_the_tools_in_order() -> None:
    assert [tool.name for tool in ALL_TOOLS] == [
        "store_context",
        "search_context",
        "hybrid_search_context",
        "fts_search_context",
        "semantic_search_context",
        "get_context_by_ids",
        "update_context",
        "delete_context",
        "grep_context",
        "navigate_context",
        "read_context_range",
        "list_threads",
        "get_statistics",
        "store_context_batch",
        "update_context_batch",
        "delete_context_batch",
        "plan_context_sync",
        "list_ingest_state",
        "share_context",
        "unshare_context",
        "list_context_grants",
    ]


def test_annotations_tell_readers_from_writers() -> None:
    for tool in ALL_TOOLS:
        annotations = describe_tool(tool).annotations
        assert annotations is not None
        assert annotations.read_only_hint is (tool.name not in WRITERS)
        assert annotations.open_world_hint is False
        if tool.name.startswith(("delete", "update", "unshare")):
            assert annotations.destructive_hint


def test_bounds_and_required_parameters_are_in_the_schemas() -> None:
    search = plain_schema(enabled_tools(())[1].request)
    assert search["properties"]["limit"] == {"type": "integer", "default": 30, "minimum": 1, "maximum": 100}
    assert search["properties"]["tags"]["maxItems"] == 100
    assert "required" not in search
    store = plain_schema(ALL_TOOLS[0].request)
    assert store["required"] == ["thread_id", "source", "text"]
    assert store["properties"]["thread_id"]["maxLength"] == 256
    assert store["properties"]["source"]["enum"] == ["user", "agent"]


def test_a_part_of_a_response_that_may_be_null_has_no_type() -> None:
    class Response(BaseModel):
        score: float | None
        rank: int | None = None

    schema = plain_response_schema(Response)
    assert schema["properties"] == {"score": {}, "rank": {"type": "integer"}}
    assert schema["required"] == ["score"]


def test_a_union_of_types_has_no_plain_schema() -> None:
    class Request(BaseModel):
        value: int | str

    with pytest.raises(ValueError, match="union"):
        plain_schema(Request)


async def test_both_protocol_eras_list_the_same_tools(world: World, serve: Serve) -> None:
    modern = await world.client.list_tools()
    async with serve("legacy") as legacy_world:
        legacy = await legacy_world.client.list_tools()
    assert [tool.model_dump() for tool in modern.tools] == [tool.model_dump() for tool in legacy.tools]
    assert len(modern.tools) == 21


async def test_disabled_tools_are_neither_listed_nor_callable(serve: Serve) -> None:
    async with serve(disabled_tools="delete_context, share_context") as restricted:
        names = {tool.name for tool in (await restricted.client.list_tools()).tools}
        assert len(names) == 19
        assert not names & {"delete_context", "share_context"}
        with pytest.raises(ToolRefused, match="There is no tool called delete_context"):
            await restricted.as_("alice").delete_context(thread_id="t")


def test_a_disabled_tool_that_does_not_exist_refuses_the_start(world: World) -> None:
    with pytest.raises(StartRefused, match="DISABLED_TOOLS: no tool is called delete_everything"):
        Toolbox(settings_for(disabled_tools="delete_everything"), world.store, bag_of_words(settings_for()))


def test_the_whole_list_costs_few_tokens(world: World) -> None:
    descriptions = Toolbox(settings_for(), world.store, bag_of_words(settings_for())).descriptions
    listing = descriptions.model_dump_json(by_alias=True, exclude_none=True)
    assert len(listing) < 1_900 * len(descriptions.tools)
