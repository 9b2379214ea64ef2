"""list_threads and get_statistics."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pgcontext.contracts.threads import GetStatistics, ListThreads, StatisticsOutput, ThreadList
from pgcontext.storage.values import Thread
from pgcontext.tools.base import Tool, ToolContext

_OFF = {"enabled": False, "available": False}


def _render_thread(thread: Thread) -> dict[str, Any]:
    return {
        "thread_id": thread.thread_id,
        "entry_count": thread.entry_count,
        "source_types": thread.source_types,
        "multimodal_count": thread.multimodal_count,
        "first_entry": thread.first_entry,
        "last_entry": thread.last_entry,
        "last_id": thread.last_id,
    }


async def _list_threads(context: ToolContext, request: ListThreads) -> dict[str, Any]:
    threads = await context.store.list_threads(context.caller, request.limit, request.offset)
    return {"threads": [_render_thread(thread) for thread in threads], "total_threads": len(threads)}


async def _get_statistics(context: ToolContext, _request: GetStatistics) -> dict[str, Any]:
    figures = await context.store.get_statistics(context.caller)
    metrics = asdict(context.store.connection_metrics())
    result: dict[str, Any] = {
        "total_entries": figures.total_entries,
        "by_source": figures.by_source,
        "by_content_type": figures.by_content_type,
        "total_threads": figures.total_threads,
        "total_images": figures.total_images,
        "unique_tags": figures.unique_tags,
    }
    if figures.database_bytes is not None:
        result["database_size_mb"] = round(figures.database_bytes / 2**20, 2)
    return result | {
        "connection_metrics": metrics | metrics.pop("extra"),
        "semantic_search": _OFF,
        "fts": _OFF,
        "chunking": _OFF,
        "reranking": _OFF,
        "summary_generation": _OFF,
        "compression": _OFF,
        "index_tree": {"enabled": False, "node_count": 0},
    }


LIST_THREADS = Tool(
    name="list_threads",
    description="See which threads exist and how active they are, latest activity first.",
    request=ListThreads,
    response=ThreadList,
    handle=_list_threads,
)
GET_STATISTICS = Tool(
    name="get_statistics",
    description="Count what you may read, and see the server's size, load and features.",
    request=GetStatistics,
    response=StatisticsOutput,
    handle=_get_statistics,
)
