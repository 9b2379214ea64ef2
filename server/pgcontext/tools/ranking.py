"""What the three ranked searches have in common: rank in the store, rerank, and answer one page of the order.

Every page is a window into one order over a fixed number of entries, so consecutive pages neither repeat an entry
nor skip one.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, Generic, TypeVar

from pgcontext.contracts.ranked import RankedSearch
from pgcontext.generation.base import EmbeddingFailed, QueryEmbedding
from pgcontext.generation.reranking.base import Passage
from pgcontext.generation.reranking.blend import Candidate, blend
from pgcontext.storage.values import EntryFilter, RankedMatch
from pgcontext.tools.base import ToolContext
from pgcontext.tools.filtering import WrongFilters, entry_filter
from pgcontext.tools.rendering import load_images
from pgcontext.tools.search import render_found, wrong_filters_result

logger = logging.getLogger(__name__)

RANK_DEPTH = 100
"""How many entries are ranked; also the largest page."""

RequestT = TypeVar("RequestT", bound=RankedSearch)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the store found, best first; `facts` go into the result as they are."""

    matches: Sequence[RankedMatch] = ()
    embedding: QueryEmbedding | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A match at its final place; `rerank_score` is None where nothing was reranked."""

    match: RankedMatch
    rerank_score: float | None


class RankedCall(ABC, Generic[RequestT]):
    """One call of a ranked search."""

    score_fields: ClassVar[tuple[str, ...]]
    """What of a match the result shows as its scores."""
    no_scores: ClassVar[tuple[str, ...]] = ()
    """What it shows as null, since there is but one leg."""

    def __init__(self, context: ToolContext, request: RequestT) -> None:
        self.context = context
        self.request = request

    @abstractmethod
    def head(self) -> dict[str, Any]:
        """What the result begins with, whatever is found."""

    @abstractmethod
    async def rank(self, filter: EntryFilter) -> Ranking:
        """What the store finds."""

    @abstractmethod
    async def explain(self, filter: EntryFilter, ranking: Ranking, stats: dict[str, Any]) -> dict[str, Any]:
        """The figures of explain_query, made of those that every search has."""

    async def complete(self, results: list[dict[str, Any]], window: Sequence[Placed]) -> None:
        """Add to the entries of a page what only this search shows."""

    async def answer(self) -> dict[str, Any]:
        """The result for the window that the request asks for."""
        request, backend = self.request, self.context.store.backend
        try:
            filter = entry_filter(request)
        except WrongFilters as error:
            wrong = wrong_filters_result(backend, error.faults, with_stats=request.explain_query)
            return self.head() | wrong
        if request.offset >= RANK_DEPTH:
            return self.head() | {"results": [], "count": 0} | _depth_limit(request)
        started = perf_counter()
        ranking = await self.rank(filter)
        order = await _rerank(self.context, ranking, request.query)
        results = await self._page(order[request.offset : request.offset + request.limit])
        answer = self.head() | {"results": results, "count": len(results)} | ranking.facts | _depth_limit(request)
        if ranking.warnings:
            answer["warnings"] = list(ranking.warnings)
        if request.explain_query:
            stats = {
                "execution_time_ms": round((perf_counter() - started) * 1000, 3),
                "filters_applied": filter.count(),
                "rows_returned": len(results),
                "backend": backend,
            }
            answer["stats"] = await self.explain(filter, ranking, stats)
        return answer

    async def _page(self, window: Sequence[Placed]) -> list[dict[str, Any]]:
        if not window:
            return []
        context = self.context
        placed = {place.match.entry_id: place for place in window}
        entries = await context.store.preview_entries(
            context.caller, list(placed), context.settings.search_truncation_length
        )
        images = await load_images(context, entries) if self.request.include_images else None
        results = [
            render_found(entry, images)
            | {"scores": self._scores(placed[entry.id]), "passage": _passage(placed[entry.id].match)}
            for entry in entries
        ]
        await self.complete(results, [placed[entry.id] for entry in entries])
        return results

    def _scores(self, placed: Placed) -> dict[str, Any]:
        scores = {name: getattr(placed.match, name) for name in self.score_fields}
        return scores | dict.fromkeys(self.no_scores) | {"rerank_score": placed.rerank_score}


async def embed_query(context: ToolContext, query: str, warnings: list[str]) -> QueryEmbedding | None:
    """The embedding of a query; None, with a warning, where it cannot be had."""
    if context.generators.queries is None:
        return None
    try:
        return await context.generators.queries.embed(query)
    except EmbeddingFailed as error:
        logger.warning("A query was not embedded: %s", error)
        warnings.append("The query could not be embedded, so nothing was searched for by meaning")
        return None


async def _rerank(context: ToolContext, ranking: Ranking, query: str) -> list[Placed]:
    """The matches in their final order; without a reranker they stay as the store ranked them."""
    reranker, matches = context.generators.reranker, ranking.matches
    if reranker is None or ranking.embedding is None or not matches:
        return [Placed(match, None) for match in matches]
    passages = [Passage(match.token_codes) for match in matches]
    judged = await reranker.score(query, ranking.embedding.tokens, passages)
    candidates = [
        Candidate(match.entry_id, match.previous_id, match.fts_score, match.semantic_distance) for match in matches
    ]
    scores = blend(candidates, judged, context.settings.reranking_neighbour_weight)
    # stable: what counts the same stays as the store ranked it
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [Placed(matches[place], scores[place]) for place in order]


def _passage(match: RankedMatch) -> dict[str, int]:
    return {"start_char": match.begin_offset, "end_char": match.end_offset}


def _depth_limit(request: RankedSearch) -> dict[str, Any]:
    if request.offset + request.limit <= RANK_DEPTH:
        return {}
    return {
        "rank_depth_limit": {
            "requested_offset": request.offset,
            "requested_limit": request.limit,
            "rank_depth": RANK_DEPTH,
        }
    }
