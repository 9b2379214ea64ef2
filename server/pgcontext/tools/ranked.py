"""fts_search_context, semantic_search_context and hybrid_search_context."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from pgcontext.contracts.ranked import (
    FullTextResult,
    FullTextSearch,
    HybridResult,
    HybridSearch,
    SemanticResult,
    SemanticSearch,
)
from pgcontext.errors import PgcontextError
from pgcontext.generation.base import QueryEmbedding
from pgcontext.storage.values import EntryFilter, HybridRanking
from pgcontext.text.highlight import highlight
from pgcontext.text.query import QueryNode, parse_hybrid_query, parse_query
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.ranking import RANK_DEPTH, Placed, RankedCall, Ranking, embed_query

logger = logging.getLogger(__name__)


class SemanticCall(RankedCall[SemanticSearch]):
    """A search by meaning."""

    score_fields = ("semantic_distance",)
    no_scores = ("semantic_rank",)

    def head(self) -> dict[str, Any]:
        provider = self.context.generators.provider
        return {"query": self.request.query, "model": provider.model if provider else ""}

    async def rank(self, filter: EntryFilter) -> Ranking:
        warnings: list[str] = []
        embedding = await embed_query(self.context, self.request.query, warnings)
        if embedding is None:
            raise PgcontextError("The query could not be embedded; try fts_search_context")
        matches = await self.context.store.rank_vectors(self.context.caller, embedding.vector, filter, RANK_DEPTH)
        return Ranking(matches, embedding)

    async def explain(self, filter: EntryFilter, ranking: Ranking, stats: dict[str, Any]) -> dict[str, Any]:
        vector = ranking.embedding.vector if ranking.embedding else b""
        plan = await self.context.store.explain_vectors(self.context.caller, vector, filter, RANK_DEPTH)
        return stats | {"query_plan": plan}


class FullTextCall(RankedCall[FullTextSearch]):
    """A search by words."""

    score_fields = ("fts_score",)
    no_scores = ("fts_rank",)

    def __init__(self, context: ToolContext, request: FullTextSearch) -> None:
        super().__init__(context, request)
        self._language = context.settings.fts_language
        self._parsed = parse_query(request.query, request.mode, self._language)

    def head(self) -> dict[str, Any]:
        return {
            "query": self.request.query,
            "mode": self.request.mode,
            "language": self._language,
            "fts_available": True,
        }

    async def rank(self, filter: EntryFilter) -> Ranking:
        context, tree = self.context, self._parsed.tree
        if tree is None:
            return Ranking(warnings=self._parsed.notes)
        embedding = None
        if context.generators.reranker is not None:
            embedding = await embed_query(context, self.request.query, [])
        matches = await context.store.rank_words(context.caller, tree, filter, RANK_DEPTH)
        return Ranking(matches, embedding, warnings=self._parsed.notes)

    async def explain(self, filter: EntryFilter, ranking: Ranking, stats: dict[str, Any]) -> dict[str, Any]:
        tree, plan = self._parsed.tree, ""
        if tree is not None:
            plan = await self.context.store.explain_words(self.context.caller, tree, filter, RANK_DEPTH)
        return stats | {"query_plan": plan}

    async def complete(self, results: list[dict[str, Any]], window: Sequence[Placed]) -> None:
        tree = self._parsed.tree
        if not self.request.highlight or tree is None:
            return
        context = self.context
        passages = await context.store.read_passages(
            context.caller,
            [placed.match.entry_id for placed in window],
            [placed.match.chunk_index for placed in window],
        )
        texts = {passage.entry_id: passage.text for passage in passages}
        for result in results:
            result["highlighted"] = highlight(
                texts.get(result["id"], ""), tree, self._language, context.settings.search_truncation_length
            )


class HybridCall(RankedCall[HybridSearch]):
    """A search by words and by meaning together. A leg that fails leaves the other one alone, for this call."""

    score_fields = ("fts_rank", "semantic_rank", "fts_score", "semantic_distance")

    def __init__(self, context: ToolContext, request: HybridSearch) -> None:
        super().__init__(context, request)
        settings = context.settings
        self._parsed = parse_hybrid_query(request.query, settings.fts_language, settings.hybrid_fts_or_threshold)
        self._off = settings.features_off()
        self._rrf_k = request.rrf_k or settings.hybrid_rrf_k
        self._found = HybridRanking([])
        self._embedding_ms = 0.0

    def head(self) -> dict[str, Any]:
        return {
            "query": self.request.query,
            "fusion_method": self.request.fusion_method,
            "search_modes_used": [],
            "fts_count": 0,
            "semantic_count": 0,
        }

    async def rank(self, filter: EntryFilter) -> Ranking:
        warnings = list(self._parsed.notes)
        embedding = await self._embed(warnings)
        tree = self._parsed.tree if "fts" not in self._off else None
        vector = embedding.vector if embedding else None
        if tree is None and vector is None:
            return Ranking(warnings=warnings)
        tree, vector = await self._fuse(tree, vector, filter, warnings)
        modes = [*(["fts"] if tree is not None else []), *(["semantic"] if vector is not None else [])]
        facts = {
            "search_modes_used": modes,
            "fts_count": self._found.fts_count,
            "semantic_count": self._found.semantic_count,
        }
        return Ranking(self._found.matches, embedding, facts, warnings)

    async def _embed(self, warnings: list[str]) -> QueryEmbedding | None:
        if "semantic_search" in self._off:
            return None
        started = perf_counter()
        embedding = await embed_query(self.context, self.request.query, warnings)
        self._embedding_ms = (perf_counter() - started) * 1000
        return embedding

    async def _fuse(
        self, tree: QueryNode | None, vector: bytes | None, filter: EntryFilter, warnings: list[str]
    ) -> tuple[QueryNode | None, bytes | None]:
        """Let the store fuse the legs; those that took part."""
        try:
            self._found = await self._rank_legs(tree, vector, filter)
        except PgcontextError:
            raise
        except Exception:
            if tree is None or vector is None:
                raise
            logger.exception("A leg of hybrid_search_context failed")
            tree, vector = await self._fuse_what_works(tree, vector, filter)
            missing = "words" if tree is None else "meaning"
            warnings.append(f"The search by {missing} failed and is missing from these results")
        return tree, vector

    async def _fuse_what_works(
        self, tree: QueryNode, vector: bytes, filter: EntryFilter
    ) -> tuple[QueryNode | None, bytes | None]:
        try:
            self._found = await self._rank_legs(None, vector, filter)
        except Exception:
            self._found = await self._rank_legs(tree, None, filter)
            return tree, None
        return None, vector

    async def _rank_legs(self, tree: QueryNode | None, vector: bytes | None, filter: EntryFilter) -> HybridRanking:
        leg_limit = RANK_DEPTH * self.context.settings.hybrid_rrf_overfetch
        return await self.context.store.rank_hybrid(
            self.context.caller,
            tree,
            vector,
            filter,
            self.request.fusion_method,
            self._rrf_k,
            leg_limit,
            RANK_DEPTH,
        )

    async def explain(self, filter: EntryFilter, ranking: Ranking, stats: dict[str, Any]) -> dict[str, Any]:
        store, caller, found = self.context.store, self.context.caller, self._found
        modes = ranking.facts.get("search_modes_used", [])
        fts_plan = semantic_plan = ""
        if "fts" in modes and self._parsed.tree is not None:
            fts_plan = await store.explain_words(caller, self._parsed.tree, filter, RANK_DEPTH)
        if "semantic" in modes and ranking.embedding is not None:
            semantic_plan = await store.explain_vectors(caller, ranking.embedding.vector, filter, RANK_DEPTH)
        union = found.fts_count + found.semantic_count - found.common_count
        return stats | {
            "query_plan": "",
            "fts_stats": stats | {"rows_returned": found.fts_count, "query_plan": fts_plan},
            "semantic_stats": stats
            | {
                "rows_returned": found.semantic_count,
                "query_plan": semantic_plan,
                "embedding_generation_ms": round(self._embedding_ms, 3),
            },
            "fusion_stats": {
                "rrf_k": self._rrf_k,
                "total_unique_documents": union,
                "documents_in_both": found.common_count,
                "documents_fts_only": found.fts_count - found.common_count,
                "documents_semantic_only": found.semantic_count - found.common_count,
            },
            "adaptive_fts_mode": self._parsed.mode,
        }

    def _scores(self, placed: Placed) -> dict[str, Any]:
        return {"rrf": placed.match.fused_score} | super()._scores(placed)


async def _semantic_search(context: ToolContext, request: SemanticSearch) -> dict[str, Any]:
    return await SemanticCall(context, request).answer()


async def _full_text_search(context: ToolContext, request: FullTextSearch) -> dict[str, Any]:
    return await FullTextCall(context, request).answer()


async def _hybrid_search(context: ToolContext, request: HybridSearch) -> dict[str, Any]:
    return await HybridCall(context, request).answer()


FTS_SEARCH_CONTEXT = Tool(
    name="fts_search_context",
    description=(
        "Find entries by their words, stemmed, best first: names, identifiers, phrases. "
        "For questions in natural language use hybrid_search_context."
    ),
    request=FullTextSearch,
    response=FullTextResult,
    handle=_full_text_search,
    feature="fts",
)
SEMANTIC_SEARCH_CONTEXT = Tool(
    name="semantic_search_context",
    description="Find entries that mean the same as the query, whatever their words, nearest first.",
    request=SemanticSearch,
    response=SemanticResult,
    handle=_semantic_search,
    feature="semantic_search",
)
HYBRID_SEARCH_CONTEXT = Tool(
    name="hybrid_search_context",
    description=(
        "Find entries by words and meaning together, best first. The search to use when unsure. Texts are cut; "
        "`passage` says where the match lies."
    ),
    request=HybridSearch,
    response=HybridResult,
    handle=_hybrid_search,
    feature="hybrid_search",
)
