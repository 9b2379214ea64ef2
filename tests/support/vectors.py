"""Embeddings to test with: random, but as real ones are, of far fewer dimensions than they have numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgcontext.storage.values import NewChunk, NewEntry

DIMENSIONS = 384
_LATENT = 24
_SPREAD = np.random.default_rng(384).standard_normal((_LATENT, DIMENSIONS))


def make_vectors(count: int, seed: int) -> NDArray[np.float16]:
    """Normalised vectors, one a row."""
    vectors = np.random.default_rng(seed).standard_normal((count, _LATENT)) @ _SPREAD
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f2")


def make_vector(seed: int) -> bytes:
    """One of them, as the store takes it."""
    return make_vectors(1, seed)[0].tobytes()


def near(vector: bytes, seed: int, distance: float = 0.1) -> bytes:
    """A vector near another one."""
    moved = np.frombuffer(vector, "<f2") + distance * make_vectors(1, seed)[0]
    return (moved / np.linalg.norm(moved.astype(np.float32))).astype("<f2").tobytes()


def nearest(vectors: NDArray[np.float16], query: bytes, count: int) -> list[int]:
    """The rows of the nearest vectors, nearest first, by comparing all."""
    differences = vectors.astype(np.float32) - np.frombuffer(query, "<f2").astype(np.float32)
    order = np.argsort((differences**2).sum(axis=1), kind="stable")[:count]
    rows: list[int] = order.tolist()
    return rows


def embedded(text: str, *vectors: bytes, **parts: object) -> NewEntry:
    """An entry of thread `t` whose text is cut into as many chunks as there are vectors."""
    bounds = [len(text) * place // len(vectors) for place in range(len(vectors) + 1)]
    chunks = tuple(
        NewChunk(bounds[place], bounds[place + 1], vector, vector[:32]) for place, vector in enumerate(vectors)
    )
    fields = {"thread_id": "t", "source": "user", "text": text, "deduplicate": False, "chunks": chunks} | parts
    return NewEntry(**fields)  # type: ignore[arg-type]
