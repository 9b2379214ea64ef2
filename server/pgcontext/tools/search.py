"""search_context."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from pgcontext.contracts.search import SearchContext, SearchResult
from pgcontext.storage.values import Entry
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.filtering import WrongFilters, entry_filter
from pgcontext.tools.rendering import Images, load_images, render_entry


def render_found(entry: Entry, images: Images | None) -> dict[str, Any]:
    """An entry of a search result."""
    middle = {
        "summary": entry.summary or "",
        "is_text_content_truncated": entry.is_text_content_truncated,
    }
    return render_entry(entry, middle, images)


def wrong_filters_result(backend: str, faults: list[str], *, with_stats: bool) -> dict[str, Any]:
    """The result of a search whose metadata filters are wrong: nothing found, and why."""
    result: dict[str, Any] = {
        "results": [],
        "count": 0,
        "error": "Metadata filter validation failed",
        "validation_errors": faults,
    }
    if with_stats:
        result["stats"] = {
            "execution_time_ms": 0.0,
            "filters_applied": 0,
            "rows_returned": 0,
            "backend": backend,
            "query_plan": "",
        }
    return result


async def _search_context(context: ToolContext, request: SearchContext) -> dict[str, Any]:
    store, caller = context.store, context.caller
    try:
        filter = entry_filter(request)
    except WrongFilters as error:
        return wrong_filters_result(store.backend, error.faults, with_stats=request.explain_query)
    started = perf_counter()
    entries = await store.search_entries(
        caller, filter, request.limit, request.offset, context.settings.search_truncation_length
    )
    elapsed = perf_counter() - started
    images = await load_images(context, entries) if request.include_images else None
    result: dict[str, Any] = {
        "results": [render_found(entry, images) for entry in entries],
        "count": len(entries),
    }
    if request.explain_query:
        result["stats"] = {
            "execution_time_ms": round(elapsed * 1000, 3),
            "filters_applied": filter.count(),
            "rows_returned": len(entries),
            "backend": store.backend,
            "query_plan": await store.explain_search(caller, filter, request.limit, request.offset),
        }
    return result


SEARCH_CONTEXT = Tool(
    name="search_context",
    description=(
        "Find entries by thread, source, tags, type, dates or metadata, newest first. Filters only, no words: "
        "without any it lists what is newest. Texts are cut; read whole ones with get_context_by_ids."
    ),
    request=SearchContext,
    response=SearchResult,
    handle=_search_context,
)
