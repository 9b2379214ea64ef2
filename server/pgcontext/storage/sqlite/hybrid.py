"""Fusing the legs of a hybrid search. Twin of `sql/search/fuse_ranks.sql` and `sql/search/rank_hybrid.sql`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgcontext.storage.sqlite.access import Session
from pgcontext.storage.sqlite.vectors import VectorMatch, describe_chunks, distance_between, find_vector_matches
from pgcontext.storage.sqlite.words import WordMatch, find_word_matches
from pgcontext.storage.values import EntryFilter, FusionMethod, HybridRanking, RankedMatch
from pgcontext.text.query import QueryNode


@dataclass(frozen=True, slots=True)
class LegMatch:
    """What one leg says of an entry: its rank there, from 1, and its score there, from 0 to 1."""

    entry_id: str
    leg: int
    rank: int
    score: float


def fuse_ranks(matches: Sequence[LegMatch], method: FusionMethod, rrf_k: int) -> list[tuple[str, float]]:
    """One score for each entry, best first, ties by id; `matches` come leg by leg.

    rrf: the sum of 1 / (rrf_k + rank), Cormack, Clarke and Büttcher 2009. convex: the mean of the scores over the
    legs, 0 where a leg has not found the entry.
    """
    legs = len({match.leg for match in matches})
    scores: dict[str, float] = {}
    for match in matches:
        share = 1 / (rrf_k + match.rank) if method == "rrf" else match.score / legs
        scores[match.entry_id] = scores.get(match.entry_id, 0.0) + share
    by_id = sorted(scores.items(), reverse=True)
    return sorted(by_id, key=lambda item: item[1], reverse=True)


def rank_hybrid(
    session: Session,
    query: QueryNode | None,
    vector: bytes | None,
    filter: EntryFilter,
    method: FusionMethod,
    rrf_k: int,
    leg_limit: int,
    limit: int,
) -> HybridRanking:
    """See `Store.rank_hybrid`."""
    by_words = [] if query is None else find_word_matches(session, query, filter, leg_limit)
    by_vectors = [] if vector is None else find_vector_matches(session, vector, filter, leg_limit)
    fused = fuse_ranks([*_words_leg(by_words), *_vectors_leg(by_vectors)], method, rrf_k)[:limit]
    words = {match.entry_id: (match, rank) for rank, match in enumerate(by_words, 1)}
    vectors = {match.entry_id: (match, rank) for rank, match in enumerate(by_vectors, 1)}
    # the nearest chunk, or else the one with the words
    chunks = [(vectors.get(entry_id) or words[entry_id])[0].chunk_index for entry_id, _ in fused]
    described = describe_chunks(session, [entry_id for entry_id, _ in fused], chunks)
    matches = []
    for (entry_id, score), chunk_index, chunk in zip(fused, chunks, described, strict=True):
        word, fts_rank = words.get(entry_id, (None, None))
        near, semantic_rank = vectors.get(entry_id, (None, None))
        distance = near.distance if near else None
        # also where the vectors have not found the entry, so that a reranker can compare all of them
        if distance is None and vector is not None and chunk.embedding is not None:
            distance = distance_between(chunk.embedding, vector)
        matches.append(
            RankedMatch(
                entry_id,
                chunk_index,
                chunk.begin_offset,
                chunk.end_offset,
                chunk.token_codes,
                chunk.previous_id,
                fts_score=word.score if word else None,
                fts_rank=fts_rank,
                semantic_distance=distance,
                semantic_rank=semantic_rank,
                fused_score=score,
            )
        )
    return HybridRanking(matches, len(words), len(vectors), len(words.keys() & vectors.keys()))


def _words_leg(matches: Sequence[WordMatch]) -> list[LegMatch]:
    """Scores as shares of the best one."""
    best = max((match.score for match in matches), default=0.0)
    return [
        LegMatch(match.entry_id, 1, rank, match.score / best if best else 1.0)
        for rank, match in enumerate(matches, 1)
    ]


def _vectors_leg(matches: Sequence[VectorMatch]) -> list[LegMatch]:
    """Scores along the cosine, from the farthest to the nearest; the square of an L2 distance is linear in it."""
    squares = [match.distance**2 for match in matches]
    span = max(squares, default=0.0) - min(squares, default=0.0)
    return [
        LegMatch(match.entry_id, 2, rank, (max(squares) - square) / span if span else 1.0)
        for rank, (match, square) in enumerate(zip(matches, squares, strict=True), 1)
    ]
