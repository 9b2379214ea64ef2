"""list_threads and get_statistics."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pgcontext.contracts.threads import GetStatistics, ListThreads, StatisticsOutput, ThreadList
from pgcontext.storage.values import Statistics, Thread
from pgcontext.tools.base import Tool, ToolContext

_OFF = {"enabled": False, "available": False}
_ENGINES = {"postgresql": "tsvector", "sqlite": "fts5"}


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
        result["database_size_mb"] = _megabytes(figures.database_bytes)
    if context.settings.has_embeddings:
        result["embeddings_size_mb"] = _megabytes(figures.embedding_bytes)
        result["embeddings_size_estimated"] = False
    return result | {"connection_metrics": metrics | metrics.pop("extra")} | _features(context, figures)


def _features(context: ToolContext, figures: Statistics) -> dict[str, Any]:
    settings, off = context.settings, context.settings.features_off()
    provider, reranker = context.generators.provider, context.generators.reranker
    embedded, indexed, total = figures.embedded_entries, figures.indexed_entries, figures.total_entries
    return {
        "semantic_search": _status(
            "semantic_search" not in off and provider is not None,
            model=provider and provider.model,
            dimensions=provider and provider.dimension,
            embedding_count=embedded,
            pending_count=total - embedded,
            coverage_percentage=_share(embedded, total),
        ),
        "fts": _status(
            "fts" not in off,
            language=settings.fts_language,
            backend=context.store.backend,
            engine=_ENGINES[context.store.backend],
            indexed_entries=indexed,
            coverage_percentage=_share(indexed, total),
        ),
        "chunking": _status(
            settings.enable_chunking,
            chunk_size=settings.chunk_size,
            chunk_overlap=settings.chunk_overlap,
            aggregation=settings.chunk_aggregation,
        ),
        "reranking": _status(
            reranker is not None, provider=reranker and reranker.name, model=reranker and reranker.model
        ),
        "summary_generation": _OFF,
        "compression": _OFF,
        "index_tree": {"enabled": False, "node_count": 0},
    }


def _status(is_on: bool, **details: Any) -> dict[str, Any]:
    """Whether a feature is on, and what it is like."""
    return {"enabled": True, "available": True, **details} if is_on else dict(_OFF)


def _share(part: int, total: int) -> float:
    """Per cent, of nothing all."""
    return round(100 * part / total, 2) if total else 100.0


def _megabytes(size: int) -> float:
    return round(size / 2**20, 2)


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
