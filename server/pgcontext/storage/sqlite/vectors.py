"""Search by meaning. Twin of the functions of `sql/search/` that deal with vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgcontext.storage.sqlite.access import Session, with_rules
from pgcontext.storage.sqlite.filters import compile_filter
from pgcontext.storage.sqlite.util import to_json
from pgcontext.storage.sqlite.vector_index import Distances, to_floats
from pgcontext.storage.values import EntryFilter, RankedMatch


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """An entry, its chunk that is nearest to a vector, and how far that is (L2)."""

    entry_id: str
    chunk_index: int
    distance: float


@dataclass(frozen=True, slots=True)
class _Chunk:
    row_id: int
    entry_id: str
    chunk_index: int


def find_vector_matches(session: Session, vector: bytes, filter: EntryFilter, limit: int) -> list[VectorMatch]:
    """The readable entries that pass the filter, each with its nearest chunk, nearest first."""
    # the distances in memory are not quite exact: some more than wanted are compared
    chunks = _find_candidates(session, vector, filter, limit + limit // 5 + 8)
    found: dict[str, VectorMatch] = {}
    for match in _compare(session, vector, chunks):
        found.setdefault(match.entry_id, match)
    newest_first = sorted(found.values(), key=lambda match: match.entry_id, reverse=True)
    return sorted(newest_first, key=lambda match: match.distance)[:limit]


def _find_candidates(session: Session, vector: bytes, filter: EntryFilter, wanted: int) -> list[_Chunk]:
    """The chunks of readable entries that pass the filter, from the nearest on until they are of `wanted` entries.

    First the nearest of all are looked at, then as many as ought to do by what was seen, then those of every
    entry that passes.
    """
    distances = session.vectors.measure(session.connection, vector)
    total = len(distances.squares)
    count = wanted + wanted // 4
    for _ in range(2):
        chunks = _check(session, filter, distances, distances.nearest(count))
        entries = len({chunk.entry_id for chunk in chunks})
        if entries >= wanted or count >= total:
            return _of_entries(chunks, wanted)
        count = count * wanted * 5 // (4 * max(entries, 1))
        if count > total // 4:
            break
    passing = {row_id: _Chunk(row_id, *rest) for row_id, *rest in _run(session, filter, _PASSING)}
    return _of_entries([passing[row_id] for row_id in distances.nearest_among(list(passing))], wanted)


def _check(session: Session, filter: EntryFilter, distances: Distances, row_ids: Sequence[int]) -> list[_Chunk]:
    """Those of these chunks whose entries are readable and pass the filter, in the order given."""
    rows = _run(session, filter, _CHECKED, rows=to_json(row_ids))
    stored = {row_id: (_Chunk(row_id, entry_id, index), passes) for row_id, entry_id, index, passes in rows}
    distances.forget([row_id for row_id in row_ids if row_id not in stored])
    checked = [stored[row_id] for row_id in row_ids if row_id in stored]
    return [chunk for chunk, passes in checked if passes]


def _of_entries(chunks: Sequence[_Chunk], wanted: int) -> list[_Chunk]:
    """The first chunks, until the next would be of one entry more than wanted."""
    entries: set[str] = set()
    for place, chunk in enumerate(chunks):
        entries.add(chunk.entry_id)
        if len(entries) > wanted:
            return list(chunks[:place])
    return list(chunks)


def _run(session: Session, filter: EntryFilter, query: str, **bindings: str) -> list[tuple[Any, ...]]:
    predicate, values = compile_filter(filter)
    return session.rows(query.replace("{filter}", predicate), **values, **bindings)


_CHECKED = with_rules("""
    select chunk.row_id, entry.id, chunk.chunk_index, {is_readable} and {filter}
    from chunk
    inner join entry on entry.row_id = chunk.entry_row_id
    where chunk.row_id in (select value from json_each(:rows))
""")
_PASSING = with_rules("""
    select chunk.row_id, entry.id, chunk.chunk_index
    from entry
    inner join chunk on chunk.entry_row_id = entry.row_id
    where {is_readable} and {filter}
""")


def _compare(session: Session, vector: bytes, chunks: Sequence[_Chunk]) -> list[VectorMatch]:
    """The exact distances of chunks, nearest first."""
    rows = session.rows(_EMBEDDINGS, rows=to_json([chunk.row_id for chunk in chunks]))
    if not rows:
        return []
    named = {chunk.row_id: chunk for chunk in chunks}
    differences = to_floats(b"".join(embedding for _, embedding in rows)) - to_floats(vector)[0]
    distances = np.sqrt(np.einsum("ij,ij->i", differences, differences, dtype=np.float64)).tolist()
    matches = [
        VectorMatch(named[row_id].entry_id, named[row_id].chunk_index, distance)
        for (row_id, _), distance in zip(rows, distances, strict=True)
    ]
    return sorted(matches, key=lambda match: (match.distance, match.chunk_index))


def distance_between(embedding: bytes, vector: bytes) -> float:
    """The L2 distance of two vectors (float16, little endian)."""
    difference = (to_floats(embedding) - to_floats(vector))[0].astype(np.float64)
    return float(np.sqrt(difference @ difference))


_EMBEDDINGS = """
    select chunk_row_id, embedding
    from chunk_embedding
    where chunk_row_id in (select value from json_each(:rows))
"""


def rank_vectors(session: Session, vector: bytes, filter: EntryFilter, limit: int) -> list[RankedMatch]:
    """See `Store.rank_vectors`."""
    matches = find_vector_matches(session, vector, filter, limit)
    described = describe_chunks(
        session, [match.entry_id for match in matches], [match.chunk_index for match in matches]
    )
    return [
        RankedMatch(
            match.entry_id,
            match.chunk_index,
            chunk.begin_offset,
            chunk.end_offset,
            chunk.token_codes,
            chunk.previous_id,
            semantic_distance=match.distance,
            semantic_rank=rank,
        )
        for rank, (match, chunk) in enumerate(zip(matches, described, strict=True), 1)
    ]


@dataclass(frozen=True, slots=True)
class ChunkDescription:
    """What ranking has to know of a chunk; `previous_id` is the readable entry before its own in the thread."""

    begin_offset: int
    end_offset: int
    embedding: bytes | None
    token_codes: bytes | None
    previous_id: str | None


def describe_chunks(
    session: Session, entry_ids: Sequence[str], chunk_indexes: Sequence[int]
) -> list[ChunkDescription]:
    """The descriptions of chunks of readable entries, in the order given; the two lists go together."""
    named = to_json([list(pair) for pair in zip(entry_ids, chunk_indexes, strict=True)])
    return [ChunkDescription(*row) for row in session.rows(_DESCRIBED, named=named)]


_DESCRIBED = f"""
    with named as materialized (
        select key as place, value ->> 0 as entry_id, value ->> 1 as chunk_index from json_each(:named)
    ),

    described as materialized (
        select
            named.place,
            entry.id,
            entry.thread_id,
            entry.created_at,
            chunk.row_id,
            chunk.begin_offset,
            chunk.end_offset
        from named
        cross join entry on entry.id = named.entry_id
        cross join chunk on chunk.entry_row_id = entry.row_id and chunk.chunk_index = named.chunk_index
        where {with_rules("{is_readable}")}
    )

    select
        described.begin_offset,
        described.end_offset,
        chunk_embedding.embedding,
        chunk_embedding.token_codes,
        (
            select entry.id
            from entry
            where
                entry.thread_id = described.thread_id
                and (entry.created_at, entry.id) < (described.created_at, described.id)
                and {with_rules("{is_readable}")}
            order by entry.created_at desc, entry.id desc
            limit 1
        )
    from described
    left join chunk_embedding on chunk_embedding.chunk_row_id = described.row_id
    order by described.place
"""


def explain_vectors(session: Session, vector: bytes, filter: EntryFilter, limit: int) -> str:
    """See `Store.explain_vectors`."""
    total = len(session.vectors.measure(session.connection, vector).squares)
    predicate, bindings = compile_filter(filter)
    query = "explain query plan " + _CHECKED.replace("{filter}", predicate)
    steps = [row[-1] for row in session.rows(query, **bindings, rows="[]")]
    return "\n".join([f"COMPARE {total} VECTORS IN MEMORY", *(f"  {step}" for step in steps)])
