"""The final order of a window of results: search scores, reranking scores and neighbours together.

The figures behind the weights are in docs/decisions (search).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RERANKING_WEIGHT = 0.6
NEXT_TO_PREVIOUS = 1 / 3
"""How much the entry after counts beside the entry before: an answer follows its question."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A result of the search in the window that is reordered."""

    entry_id: str
    previous_id: str | None
    """The entry before it in its thread, of those the caller may read."""
    fts_score: float | None
    """The larger the better; None where the words did not find it."""
    semantic_distance: float | None
    """Euclidean, between vectors of length one; None where the vectors did not find it."""


def blend(
    candidates: Sequence[Candidate], reranking_scores: Sequence[float | None], neighbour_weight: float
) -> list[float]:
    """A score from 0 to 1 per candidate, larger for better.

    The scores of the search and those of the reranking are stretched to 0..1 within the window. A candidate that
    could not be reranked keeps its search score. Then each rises by a share of what it lacks to 1: by
    `neighbour_weight` (0 to 0.5) times the score of the entry before it in its thread, and a third of that times
    the score of the entry after it, where those are in the window too.
    """
    searched = _stretch(_search_scores(candidates))
    reranked = _stretch(reranking_scores)
    blended = [
        first if second is None else (1 - RERANKING_WEIGHT) * first + RERANKING_WEIGHT * second
        for first, second in zip(searched, reranked, strict=True)
        if first is not None
    ]
    return _raise_neighbours(candidates, blended, neighbour_weight)


def _search_scores(candidates: Sequence[Candidate]) -> list[float]:
    """The mean of the scores by words, relative to the best, and by meaning, stretched over the window.

    Convex fusion (Bruch, Gai and Ingber, 2023). What one of the two did not find has 0 there.
    """
    best = max((candidate.fts_score or 0.0 for candidate in candidates), default=0.0)
    words = [(candidate.fts_score or 0.0) / best if best > 0 else 0.0 for candidate in candidates]
    similarities = [
        None if candidate.semantic_distance is None else 1 - candidate.semantic_distance**2 / 2
        for candidate in candidates
    ]
    meanings = [score or 0.0 for score in _stretch(similarities)]
    return [(word + meaning) / 2 for word, meaning in zip(words, meanings, strict=True)]


def _stretch(scores: Sequence[float | None]) -> list[float | None]:
    """The scores mapped to 0..1; all that there are become 1 when they are equal."""
    present = [score for score in scores if score is not None]
    if not present:
        return list(scores)
    low, high = min(present), max(present)
    if low == high:
        return [None if score is None else 1.0 for score in scores]
    return [None if score is None else (score - low) / (high - low) for score in scores]


def _raise_neighbours(candidates: Sequence[Candidate], scores: Sequence[float], weight: float) -> list[float]:
    before = {candidate.entry_id: candidate.previous_id for candidate in candidates}
    after = {previous: entry for entry, previous in before.items() if previous is not None}
    score_of: dict[str | None, float] = dict(zip(before, scores, strict=True))
    raised = []
    for candidate, score in zip(candidates, scores, strict=True):
        previous = score_of.get(candidate.previous_id, 0.0)
        following = score_of.get(after.get(candidate.entry_id), 0.0)
        raised.append(score + (1 - score) * weight * (previous + NEXT_TO_PREVIOUS * following))
    return raised
