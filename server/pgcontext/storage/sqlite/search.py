"""Finding entries, by their attributes and otherwise. Twin of `sql/search/`."""

from __future__ import annotations

from collections.abc import Sequence

from pgcontext.storage.sqlite.access import Session, Value, with_rules
from pgcontext.storage.sqlite.filters import compile_filter
from pgcontext.storage.sqlite.hybrid import fuse_ranks, rank_hybrid
from pgcontext.storage.sqlite.reading import read_entries
from pgcontext.storage.sqlite.vectors import describe_chunks, explain_vectors, find_vector_matches, rank_vectors
from pgcontext.storage.sqlite.words import explain_words, find_word_matches, rank_words, read_passages
from pgcontext.storage.values import Entry, EntryFilter

__all__ = [
    "describe_chunks",
    "explain_search",
    "explain_vectors",
    "explain_words",
    "find_entries",
    "find_vector_matches",
    "find_word_matches",
    "fuse_ranks",
    "preview_entries",
    "rank_hybrid",
    "rank_vectors",
    "rank_words",
    "read_passages",
    "search_entries",
]

_SEARCH = with_rules("""
    select entry.id
    from entry
    where {is_readable} and {filter}
    order by entry.created_at desc, entry.id desc
    limit :limit
    offset :offset
""")


def search_entries(
    session: Session, filter: EntryFilter, limit: int, offset: int, text_length: int
) -> list[Entry]:
    """See `Store.search_entries`."""
    return read_entries(session, find_entries(session, filter, limit, offset), text_length)


def preview_entries(session: Session, entry_ids: Sequence[str], text_length: int) -> list[Entry]:
    """See `Store.preview_entries`."""
    return read_entries(session, entry_ids, text_length)


def find_entries(session: Session, filter: EntryFilter, limit: int, offset: int) -> list[str]:
    """The ids of one page of the readable entries that pass the filter, newest first."""
    query, bindings = compile_search(filter, limit, offset)
    return [entry_id for (entry_id,) in session.execute(query, **bindings)]


def explain_search(session: Session, filter: EntryFilter, limit: int, offset: int) -> str:
    """See `Store.explain_search`; one line for each step, indented below the step it belongs to."""
    query, bindings = compile_search(filter, limit, offset)
    depths = {0: -1}
    lines = []
    for step, parent, _, detail in session.execute("explain query plan " + query, **bindings):
        depths[step] = depths[parent] + 1
        lines.append("  " * depths[step] + detail)
    return "\n".join(lines)


def compile_search(filter: EntryFilter, limit: int, offset: int) -> tuple[str, dict[str, Value]]:
    """The query that finds one page of readable entries, and its parameters."""
    predicate, bindings = compile_filter(filter)
    return _SEARCH.replace("{filter}", predicate), bindings | {"limit": limit, "offset": offset}
