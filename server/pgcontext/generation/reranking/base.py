"""What a reranking provider offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pgcontext.generation.base import QueryTokens


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to be judged: its token codes as stored, and its text where the provider reads texts."""

    token_codes: bytes | None
    text: str | None = None


class RerankingProvider(Protocol):
    """Judges passages by how well they answer a query. Waits and never blocks the event loop."""

    name: str
    model: str
    reads_texts: bool
    """Whether `Passage.text` is needed; otherwise token codes are enough."""

    async def score(
        self, query: str, tokens: QueryTokens | None, passages: Sequence[Passage]
    ) -> list[float | None]:
        """A score per passage, larger for better, comparable within this call; None for what cannot be judged."""
