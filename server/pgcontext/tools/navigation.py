"""navigate_context and read_context_range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, TypeVarTuple

import anyio

from pgcontext.contracts.navigation import ContextRange, NavigateContext, Outline, ReadContextRange
from pgcontext.errors import EntryNotFound, InvalidArgument
from pgcontext.storage.values import Entry, TextSpan
from pgcontext.text.characters import shown
from pgcontext.text.lines import slice_characters
from pgcontext.text.outline import ROOT, Node, find_node, outline
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.identifiers import resolve_id
from pgcontext.tools.workers import OutOfBounds, run_in_worker

Args = TypeVarTuple("Args")
T = TypeVar("T")

_LIGHT_TEXT = 32 * 1024
"""A longer text is parsed in a worker."""

_SECONDS = 30.0


async def _read_entry(context: ToolContext, value: str) -> Entry:
    """The entry of an id or prefix, with its whole text."""
    entry_id = await resolve_id(context, value)
    for entry in await context.store.get_entries(context.caller, [entry_id]):
        return entry
    raise EntryNotFound(entry_id)


async def _parse(context: ToolContext, function: Callable[[str, *Args], T], text: str, *args: *Args) -> T:
    """What a function makes of the outline of a text, away from the event loop."""
    if len(text) <= _LIGHT_TEXT:
        return await anyio.to_thread.run_sync(function, text, *args)
    try:
        return await run_in_worker(context.caller.id, _SECONDS, function, text, *args)
    except OutOfBounds:
        raise InvalidArgument("context_id: this text takes too long to outline; read it by lines") from None


def _render_node(node: Node, summaries: Mapping[str, str]) -> dict[str, Any]:
    return {
        "node_id": node.node_id,
        "level": node.level,
        "ordinal": node.ordinal,
        "title": node.title,
        "char_start": node.char_start,
        "char_end": node.char_end,
        "summary": summaries.get(node.node_id, ""),
        "children": [_render_node(child, summaries) for child in node.children],
    }


async def _navigate_context(context: ToolContext, request: NavigateContext) -> dict[str, Any]:
    entry = await _read_entry(context, request.context_id)
    root = await _parse(context, outline, entry.text_content, request.max_depth)
    return {
        "context_id": entry.id,
        "total_chars": len(entry.text_content),
        "node_count": sum(1 for _ in root.walk()),
        "root": _render_node(root, {ROOT: entry.summary or ""}),
        "visibility": entry.visibility,
        "is_owner": entry.is_owner,
    }


def _section(text: str, node_id: str) -> tuple[int, int] | None:
    """Where the section of an outline begins and ends."""
    node = find_node(outline(text), node_id)
    return None if node is None else (node.char_start, node.char_end)


async def _read_section(context: ToolContext, request: ReadContextRange, node_id: str) -> dict[str, Any]:
    entry = await _read_entry(context, request.context_id)
    section = await _parse(context, _section, entry.text_content, node_id)
    if section is None:
        raise InvalidArgument(
            f"node_id: the entry has no section {shown(node_id)}; navigate_context lists those it has"
        )
    span = slice_characters(entry.text_content, *section)
    return _render_span(
        entry.id,
        TextSpan(
            span.start_char,
            span.end_char,
            span.start_line,
            span.end_line,
            span.text,
            entry.visibility,
            entry.is_owner,
        ),
    )


def _render_span(entry_id: str, span: TextSpan) -> dict[str, Any]:
    return {
        "context_id": entry_id,
        "start_char": span.start_char,
        "end_char": span.end_char,
        "start_line": span.start_line,
        "end_line": span.end_line,
        "text": span.text_content,
        "visibility": span.visibility,
        "is_owner": span.is_owner,
    }


async def _read_context_range(context: ToolContext, request: ReadContextRange) -> dict[str, Any]:
    if request.node_id is not None:
        return await _read_section(context, request, request.node_id)
    entry_id = await resolve_id(context, request.context_id)
    places = (request.start_char, request.end_char, request.start_line, request.end_line)
    return _render_span(entry_id, await context.store.read_span(context.caller, entry_id, *places))


NAVIGATE_CONTEXT = Tool(
    name="navigate_context",
    description=(
        "See the headings of one entry's Markdown as a tree, with the offsets of each section. "
        "Read a section by its node_id with read_context_range."
    ),
    request=NavigateContext,
    response=Outline,
    handle=_navigate_context,
    feature="context_navigation",
)
READ_CONTEXT_RANGE = Tool(
    name="read_context_range",
    description=(
        "Read a part of one entry: a range of characters (as match_start and match_end of grep_context), "
        "of lines, or a section by its node_id. What lies outside of the text is cut off."
    ),
    request=ReadContextRange,
    response=ContextRange,
    handle=_read_context_range,
    feature="context_range",
)
