"""JSON Schema in the plain form that every MCP client understands.

No references, no unions, no lists of types, no titles: many clients translate tool schemas to their model's own
dialect and reject or mangle the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_KEPT = (
    "description",
    "default",
    "enum",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "maxProperties",
)


def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a request; an optional parameter has a plain type and is not required."""
    return _plain(model, is_response=False)


def plain_response_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a response.

    A part with a default may be absent, but is not null; one without a default that may be null has no type at
    all, since null would fail any.
    """
    return _plain(model, is_response=True)


def _plain(model: type[BaseModel], *, is_response: bool) -> dict[str, Any]:
    schema = model.model_json_schema()
    plain = _simplify(schema, schema.get("$defs", {}), is_response)
    plain.pop("description", None)
    return plain


def _simplify(node: Mapping[str, Any], definitions: Mapping[str, Any], is_response: bool) -> dict[str, Any]:
    if reference := node.get("$ref"):
        target = _without(definitions[reference.removeprefix("#/$defs/")], "description")
        return _simplify({**target, **_without(node, "$ref")}, definitions, is_response)
    if choices := node.get("anyOf"):
        kept = [choice for choice in choices if choice.get("type") != "null"]
        if len(kept) > 1:
            raise ValueError(f"a union has no plain schema: {node}")
        rest = _without(node, "anyOf")
        is_nullable = is_response and "default" not in node
        return _simplify(rest if is_nullable else {**kept[0], **rest}, definitions, is_response)
    plain: dict[str, Any] = {"type": node["type"]} if "type" in node else {}
    plain |= {name: node[name] for name in _KEPT if name in node}
    if is_response or plain.get("default", ...) is None:
        plain.pop("default", None)
    if "const" in node:
        plain["enum"] = [node["const"]]
    if "properties" in node:
        plain["properties"] = {
            name: _simplify(part, definitions, is_response) for name, part in node["properties"].items()
        }
    if "required" in node:
        plain["required"] = list(node["required"])
    if "items" in node:
        plain["items"] = _simplify(node["items"], definitions, is_response)
    return plain


def _without(node: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name != key}
