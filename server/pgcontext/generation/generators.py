"""What one deployment generates with: chosen by the settings, opened and closed with the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgcontext.generation.base import EmbeddingProvider
from pgcontext.generation.indexing import TextIndexer
from pgcontext.generation.providers import create_embedding_provider, create_indexer, create_reranking_provider
from pgcontext.generation.queries import QueryEmbedder
from pgcontext.generation.reranking.base import RerankingProvider
from pgcontext.settings import Settings
from pgcontext.storage.values import NewChunk


@dataclass(frozen=True, slots=True)
class Generators:
    """The models of a deployment; None where it has none."""

    indexer: TextIndexer
    provider: EmbeddingProvider | None = None
    queries: QueryEmbedder | None = None
    reranker: RerankingProvider | None = None

    async def open(self) -> None:
        """Make the models ready before the first request needs them."""
        if self.provider is not None:
            await self.provider.open()

    async def close(self) -> None:
        """Release the models; idempotent."""
        if self.provider is not None:
            await self.provider.close()

    async def prepare(self, texts: Sequence[str]) -> list[tuple[NewChunk, ...]]:
        """The chunks of texts that are about to be stored, in their order."""
        return await self.indexer.prepare(texts)


def create_generators(settings: Settings) -> Generators:
    """The generators that the settings choose, not yet open."""
    provider = create_embedding_provider(settings)
    indexer = create_indexer(settings, provider)
    if provider is None:
        return Generators(indexer)
    queries = QueryEmbedder(provider, timeout=settings.embedding_timeout_s)
    return Generators(indexer, provider, queries, create_reranking_provider(settings))
