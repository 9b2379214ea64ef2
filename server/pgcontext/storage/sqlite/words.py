"""Search by words. Twin of the functions of `sql/search/` that deal with words."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pgcontext.storage.sqlite.access import Session, Value, with_rules
from pgcontext.storage.sqlite.filters import compile_filter
from pgcontext.storage.sqlite.util import to_json
from pgcontext.storage.sqlite.vectors import describe_chunks
from pgcontext.storage.sqlite.word_query import (
    Unit,
    compile_condition,
    compile_leaf,
    compile_match,
    is_spread,
    match_any,
    query_units,
)
from pgcontext.storage.values import EntryFilter, Passage, RankedMatch
from pgcontext.text.query import Leaf, QueryNode

_BOUND = 1000


@dataclass(frozen=True, slots=True)
class WordMatch:
    """An entry, its chunk that matches best, and how well."""

    entry_id: str
    chunk_index: int
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    row_id: int
    entry_id: str
    created_at: int
    chunk_index: int
    word_count: int


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Of candidates: how many there are, how long they are, and how many of them hold each unit."""

    count: int
    average_length: float
    frequencies: tuple[int, ...]


def find_word_matches(session: Session, query: QueryNode, filter: EntryFilter, limit: int) -> list[WordMatch]:
    """The readable entries that pass the filter and match the query, each with its best chunk, best first.

    Of more than a thousand matching chunks, the newest thousand are ranked, and a thousand with words that are
    rare among those.
    """
    units = query_units(query, session.language)
    candidates = _find_candidates(session, query, filter)
    if not candidates:
        return []
    counts = [_count(session, unit, candidates) for unit in units]
    statistics = _Statistics(
        len(candidates),
        sum(candidate.word_count for candidate in candidates) / len(candidates),
        tuple(map(len, counts)),
    )
    rare = [unit for unit, found in zip(units, counts, strict=True) if len(found) <= _BOUND // 10]
    if len(candidates) == _BOUND and rare:
        candidates = list(dict.fromkeys(candidates + _find_candidates(session, query, filter, rare)))
        counts = [_count(session, unit, candidates) for unit in units]
    return _best(candidates, counts, statistics)[:limit]


def _best(
    candidates: Sequence[_Candidate], counts: Sequence[dict[int, int]], statistics: _Statistics
) -> list[WordMatch]:
    weights = [
        math.log(1 + (statistics.count - holding + 0.5) / (holding + 0.5)) for holding in statistics.frequencies
    ]
    best: dict[str, tuple[float, int, _Candidate]] = {}
    for candidate in candidates:
        total = 0.0
        for found, weight in zip(counts, weights, strict=True):
            total += found.get(candidate.row_id, 0) * weight
        length = 0.6 + 0.4 * (candidate.word_count / statistics.average_length)
        ranked = (total / (1e6 * length), -candidate.chunk_index, candidate)
        if candidate.entry_id not in best or ranked[:2] > best[candidate.entry_id][:2]:
            best[candidate.entry_id] = ranked
    order = sorted(
        best.values(), key=lambda ranked: (ranked[0], ranked[2].created_at, ranked[2].entry_id), reverse=True
    )
    return [WordMatch(found.entry_id, found.chunk_index, score) for score, _, found in order]


def _find_candidates(
    session: Session, query: QueryNode, filter: EntryFilter, required: list[Unit] | None = None
) -> list[_Candidate]:
    """The newest matching chunks of readable entries that pass the filter; with `required`, those of them only."""
    found: list[_Candidate] = []
    for statement, bindings in _compile_candidates(session, query, filter, required):
        found += [_Candidate(*row) for row in session.execute(statement, **bindings)]
    found.sort(key=lambda each: each.chunk_index)
    found.sort(key=lambda each: (each.created_at, each.entry_id), reverse=True)
    return found[:_BOUND]


def _compile_candidates(
    session: Session, query: QueryNode, filter: EntryFilter, required: list[Unit] | None = None
) -> list[tuple[str, dict[str, Value]]]:
    """The queries that find candidates, with their bindings; entries of several chunks have one of their own."""
    language = session.language
    predicate, bindings = compile_filter(filter)
    statement = _CANDIDATES.replace("{filter}", predicate)
    whole = compile_match(query, language)
    if not is_spread(query):
        return [(statement.replace("{spread}", "true"), bindings | _expression(whole, required))]
    queries = [(statement.replace("{spread}", "not chunk.is_part"), bindings | _expression(whole, required))]
    values: dict[str, Value] = {}

    def test(leaf: Leaf) -> str:
        name = f"leaf_{len(values)}"
        values[name] = compile_leaf(leaf, language)[0]
        return _HOLDING.replace("{leaf}", name)

    spread = f"chunk.is_part and {compile_condition(query, test)}"
    any_word = match_any(query_units(query, language))
    queries.append((statement.replace("{spread}", spread), bindings | values | _expression(any_word, required)))
    return queries


def _expression(match: str, required: list[Unit] | None) -> dict[str, Value]:
    return {"match": match if required is None else f"({match}) AND ({match_any(required)})"}


# The full-text index comes first, since its matches are few beside the entries. It is read from the newest on (the
# limit keeps that order), so that what comes after the first thousand is seen to be too old at once.
_CANDIDATES = with_rules("""
    select chunk.row_id, entry.id, entry.created_at, chunk.chunk_index, chunk.word_count
    from (
        select rowid as row_id from chunk_words where chunk_words match :match order by rowid desc limit -1
    ) as found
    cross join chunk on chunk.row_id = found.row_id
    cross join entry on entry.row_id = chunk.entry_row_id
    where {spread} and {is_readable} and {filter}
    order by entry.created_at desc, entry.id desc, chunk.chunk_index
    limit 1000
""")
_HOLDING = """
    chunk.entry_row_id in (
        select part.entry_row_id
        from chunk_words
        cross join chunk as part on part.row_id = chunk_words.rowid
        where chunk_words match :{leaf} and part.is_part
    )
"""


def _count(session: Session, unit: Unit, candidates: Sequence[_Candidate]) -> dict[int, int]:
    """How much a unit counts in each candidate that holds it: what ts_rank makes of it, in whole millionths."""
    rows = [candidate.row_id for candidate in candidates]
    bindings: dict[str, Value] = {
        "term": unit.lexeme,
        "beyond": unit.lexeme + "\U0010ffff",
        "rows": to_json(rows),
        "first": min(rows),
    }
    if not unit.is_prefix:
        found = session.execute(_PLACES, **bindings)
        return {row_id: _MILLIONTHS[count] for row_id, count in found}
    ranks: dict[int, float] = {}
    for row_id, count in session.execute(_PLACES_OF_ALL, **bindings):
        ranks[row_id] = _single(ranks.get(row_id, 0.0) + _RANKS[count])
    return {row_id: round(rank * 1e6) for row_id, rank in ranks.items()}


_PLACES = """
    select doc, count(*)
    from chunk_vocabulary
    where term = :term and doc >= :first and doc in (select value from json_each(:rows))
    group by doc
"""
_PLACES_OF_ALL = """
    select doc, count(*)
    from chunk_vocabulary
    where term >= :term and term < :beyond and doc >= :first and doc in (select value from json_each(:rows))
    group by term, doc
    order by term
"""


def _single(value: float) -> float:
    """The nearest number of single precision, in which PostgreSQL reckons here."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _ranks() -> list[float]:
    """What one lexeme adds to ts_rank by its places in a text: the sum of 1/j² over them, by π²/6."""
    total = 0.0
    ranks = [0.0]
    for place in range(1, 257):
        total = _single(total + _single(1 / place**2))
        ranks.append(_single(_single(1 + total) - 1) / 1.64493406685)
    return ranks


_RANKS = _ranks()
_MILLIONTHS = [round(_single(rank) * 1e6) for rank in _RANKS]


def rank_words(session: Session, query: QueryNode, filter: EntryFilter, limit: int) -> list[RankedMatch]:
    """See `Store.rank_words`."""
    matches = find_word_matches(session, query, filter, limit)
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
            fts_score=match.score,
        )
        for match, chunk in zip(matches, described, strict=True)
    ]


def explain_words(session: Session, query: QueryNode, filter: EntryFilter, limit: int) -> str:
    """See `Store.explain_words`."""
    return "\n".join(
        row[-1]
        for statement, bindings in _compile_candidates(session, query, filter)
        for row in session.rows("explain query plan " + statement, **bindings)
    )


def read_passages(session: Session, entry_ids: Sequence[str], chunk_indexes: Sequence[int]) -> list[Passage]:
    """See `Store.read_passages`."""
    named = to_json([list(pair) for pair in zip(entry_ids, chunk_indexes, strict=True)])
    return [Passage(*row) for row in session.rows(_PASSAGES, named=named)]


_PASSAGES = with_rules("""
    select
        entry.id,
        chunk.chunk_index,
        substr(entry_text.text_content, chunk.begin_offset + 1, chunk.end_offset - chunk.begin_offset)
    from json_each(:named) as named
    cross join entry on entry.id = named.value ->> 0
    cross join chunk on chunk.entry_row_id = entry.row_id and chunk.chunk_index = named.value ->> 1
    cross join entry_text on entry_text.row_id = entry.row_id
    where {is_readable}
    order by named.key
""")
