"""The providers that the settings choose."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pgcontext.generation.indexing import TextIndexer

if TYPE_CHECKING:
    from pgcontext.generation.base import EmbeddingProvider
    from pgcontext.generation.reranking.base import RerankingProvider
    from pgcontext.settings import Settings


def create_embedding_provider(settings: Settings) -> EmbeddingProvider | None:
    """The embedding provider, or None where texts are not embedded."""
    if not settings.has_embeddings:
        return None
    from pgcontext.generation.builtin.provider import BuiltinProvider

    return BuiltinProvider(workers=min(settings.embedding_max_concurrent, os.cpu_count() or 1))


def create_reranking_provider(settings: Settings) -> RerankingProvider | None:
    """The reranking provider, or None where the order of the search is final."""
    if not settings.enable_reranking or settings.reranking_provider == "none":
        return None
    from pgcontext.generation.reranking.maxsim import MaxSim

    return MaxSim()


def create_indexer(settings: Settings, provider: EmbeddingProvider | None) -> TextIndexer:
    """What prepares texts before they are stored."""
    return TextIndexer(
        provider,
        chunk_size=settings.chunk_size if settings.enable_chunking else None,
        chunk_overlap=settings.chunk_overlap,
        concurrency=settings.embedding_max_concurrent,
        timeout=settings.embedding_timeout_s,
    )
