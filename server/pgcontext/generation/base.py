"""What an embedding provider offers, and the values it hands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbeddingFailed(Exception):
    """The provider could not embed; `str()` says why, for the log and for warnings."""


@dataclass(frozen=True, slots=True)
class DocumentEmbedding:
    """What is stored of a text."""

    vector: bytes
    """The L2-normalised vector as float16, little endian."""
    token_codes: bytes | None = None
    """The text's tokens in order, `TOKEN_CODE_SIZE` bytes each; None from providers without token vectors."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryTokens:
    """The tokens of a query as they are compared with token codes."""

    vectors: NDArray[np.float32]
    """One row per token, L2-normalised, one column per bit of a token code."""
    weights: NDArray[np.float32]
    """How much each token tells: positive, larger for rarer tokens."""


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """What a query is looked for with."""

    vector: bytes
    """As in `DocumentEmbedding`."""
    tokens: QueryTokens | None = None
    """None from providers without token vectors."""


class EmbeddingProvider(Protocol):
    """One embedding model. Its methods wait and never block the event loop."""

    name: str
    model: str
    dimension: int

    async def open(self) -> None:
        """Make ready, so that the first request need not wait. May be left out; then the first request does it."""

    async def close(self) -> None:
        """Release what the provider holds. Requests under way end with `EmbeddingFailed`."""

    async def embed_documents(self, texts: Sequence[str]) -> list[DocumentEmbedding]:
        """The embeddings of texts, in their order. Raises `EmbeddingFailed`."""

    async def embed_query(self, text: str) -> QueryEmbedding:
        """The embedding of a query, which goes before documents that wait. Raises `EmbeddingFailed`."""
