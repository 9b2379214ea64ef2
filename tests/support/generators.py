"""Generators for tests: a model of bags of words, fast and always the same, and the built-in one, loaded once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pgcontext.generation.base import DocumentEmbedding, EmbeddingFailed, QueryEmbedding
from pgcontext.generation.builtin.provider import BuiltinProvider
from pgcontext.generation.generators import Generators
from pgcontext.generation.providers import create_indexer, create_reranking_provider
from pgcontext.generation.queries import QueryEmbedder
from pgcontext.settings import Settings

DIMENSION = 384


@cache
def _direction(word: str) -> NDArray[np.float64]:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(DIMENSION)


class BagOfWords:
    """Texts are near each other when they share words. A text with the word `unembeddable` fails."""

    name = "test"
    model = "bag-of-words"
    dimension = DIMENSION

    async def open(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    async def embed_documents(self, texts: Sequence[str]) -> list[DocumentEmbedding]:
        return [DocumentEmbedding(_embed(text)) for text in texts]

    async def embed_query(self, text: str) -> QueryEmbedding:
        return QueryEmbedding(_embed(text))


def _embed(text: str) -> bytes:
    # what a model takes in is bounded, too
    words = set(re.findall(r"\w+", text[:1500].lower()))
    if "unembeddable" in words:
        raise EmbeddingFailed("the model does not like this")
    vector = sum((_direction(word) for word in sorted(words)), start=np.zeros(DIMENSION)) + 1e-3
    return (vector / np.linalg.norm(vector)).astype("<f2").tobytes()


class _SharedProvider(BuiltinProvider):
    """Stays open, so that a run of the tests loads the model once."""

    async def close(self) -> None:
        """Left open for the next server."""


@cache
def _builtin() -> BuiltinProvider:
    return _SharedProvider(workers=2)


def bag_of_words(settings: Settings) -> Generators:
    """Generators with the model of this module; nothing is reranked."""
    provider = BagOfWords()
    return Generators(create_indexer(settings, provider), provider, QueryEmbedder(provider, timeout=10))


def builtin(settings: Settings) -> Generators:
    """The generators of a default deployment."""
    provider = _builtin()
    return Generators(
        create_indexer(settings, provider),
        provider,
        QueryEmbedder(provider, timeout=60),
        create_reranking_provider(settings),
    )
