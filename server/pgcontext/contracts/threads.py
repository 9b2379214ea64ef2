"""Threads and statistics."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from pgcontext.contracts.fields import Offset, PageSize, Request


class ListThreads(Request):
    """Arguments of list_threads."""

    limit: PageSize | None = Field(None, description="All threads when omitted")
    offset: Offset = 0


class ThreadOutput(BaseModel):
    """A thread, in figures over the entries the caller may read."""

    thread_id: str
    entry_count: int
    source_types: int
    multimodal_count: int
    first_entry: str
    last_entry: str
    last_id: str


class ThreadList(BaseModel):
    """Result of list_threads; `total_threads` counts this page."""

    threads: list[ThreadOutput]
    total_threads: int


class GetStatistics(Request):
    """get_statistics takes no arguments."""


class StatisticsOutput(BaseModel):
    """Result of get_statistics; each feature says whether it is enabled, and whether it can work."""

    total_entries: int
    by_source: dict[str, int]
    by_content_type: dict[str, int]
    total_threads: int
    total_images: int
    unique_tags: int
    database_size_mb: float = 0
    embeddings_size_mb: float = 0
    embeddings_size_estimated: bool = False
    connection_metrics: dict[str, Any]
    semantic_search: dict[str, Any]
    fts: dict[str, Any]
    chunking: dict[str, Any]
    reranking: dict[str, Any]
    summary_generation: dict[str, Any]
    compression: dict[str, Any]
    index_tree: dict[str, Any]
