"""All tools, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pgcontext.errors import StartRefused
from pgcontext.tools import batches, entries, grep, navigation, ranked, search, sharing, sync, threads
from pgcontext.tools.base import Tool

ALL_TOOLS: tuple[Tool[Any], ...] = (
    entries.STORE_CONTEXT,
    search.SEARCH_CONTEXT,
    ranked.HYBRID_SEARCH_CONTEXT,
    ranked.FTS_SEARCH_CONTEXT,
    ranked.SEMANTIC_SEARCH_CONTEXT,
    entries.GET_CONTEXT_BY_IDS,
    entries.UPDATE_CONTEXT,
    entries.DELETE_CONTEXT,
    grep.GREP_CONTEXT,
    navigation.NAVIGATE_CONTEXT,
    navigation.READ_CONTEXT_RANGE,
    threads.LIST_THREADS,
    threads.GET_STATISTICS,
    batches.STORE_CONTEXT_BATCH,
    batches.UPDATE_CONTEXT_BATCH,
    batches.DELETE_CONTEXT_BATCH,
    sync.PLAN_CONTEXT_SYNC,
    sync.LIST_INGEST_STATE,
    sharing.SHARE_CONTEXT,
    sharing.UNSHARE_CONTEXT,
    sharing.LIST_CONTEXT_GRANTS,
)


def enabled_tools(disabled: Collection[str], features_off: Collection[str] = ()) -> tuple[Tool[Any], ...]:
    """The tools that are left; raises `StartRefused` for a name that no tool has."""
    known = {tool.name for tool in ALL_TOOLS}
    if unknown := sorted(set(disabled) - known):
        raise StartRefused(f"DISABLED_TOOLS: no tool is called {', '.join(unknown)}")
    return tuple(tool for tool in ALL_TOOLS if tool.name not in disabled and tool.feature not in features_off)
