"""Texts prepared for search before they are stored: cut into chunks, each with its embedding."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from pgcontext.generation.base import EmbeddingFailed, EmbeddingProvider
from pgcontext.storage.values import NewChunk
from pgcontext.text.chunks import Span, split_text

logger = logging.getLogger(__name__)

_LONG_TEXT = 100_000
"""Characters from which on cutting a text is worth a thread of its own."""
_CHUNKS_PER_REQUEST = 64


class TextIndexer:
    """Makes chunks with embeddings, for at most `concurrency` texts of a call at once.

    A text whose embedding fails or takes longer than `timeout` seconds keeps what was embedded by then; the log
    says so, and the rest of its chunks have no embedding.
    """

    def __init__(
        self,
        provider: EmbeddingProvider | None,
        *,
        chunk_size: int | None,
        chunk_overlap: int,
        concurrency: int,
        timeout: float,
    ) -> None:
        """Without a provider nothing is embedded; without a size every text is one chunk."""
        self._provider = provider
        self._chunk_size = chunk_size
        self._chunk_overlap = chunk_overlap
        self._concurrency = concurrency
        self._timeout = timeout

    async def prepare(self, texts: Sequence[str]) -> list[tuple[NewChunk, ...]]:
        """The chunks of each text, in the order of the texts. Never fails because of the provider."""
        prepared: dict[int, tuple[NewChunk, ...]] = {}
        waiting = iter(enumerate(texts))

        async def work() -> None:
            for index, text in waiting:
                prepared[index] = await self._prepare_text(text)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._concurrency, len(texts))):
                group.create_task(work())
        return [prepared[index] for index in range(len(texts))]

    async def _prepare_text(self, text: str) -> tuple[NewChunk, ...]:
        spans = await self._split(text)
        chunks = [NewChunk(span.begin, span.end) for span in spans]
        if self._provider is not None:
            try:
                async with asyncio.timeout(self._timeout):
                    await self._embed(self._provider, text, chunks)
            except (EmbeddingFailed, TimeoutError) as error:
                missing = sum(chunk.embedding is None for chunk in chunks)
                reason = str(error) or f"not done after {self._timeout:g} s"
                logger.warning("%d of %d chunks of a text were not embedded: %s", missing, len(chunks), reason)
        return tuple(chunks)

    async def _split(self, text: str) -> list[Span]:
        if self._chunk_size is None:
            return [Span(0, len(text))]
        split = partial(split_text, text, self._chunk_size, self._chunk_overlap)
        return await asyncio.to_thread(split) if len(text) >= _LONG_TEXT else split()

    @staticmethod
    async def _embed(provider: EmbeddingProvider, text: str, chunks: list[NewChunk]) -> None:
        for first in range(0, len(chunks), _CHUNKS_PER_REQUEST):
            part = chunks[first : first + _CHUNKS_PER_REQUEST]
            embeddings = await provider.embed_documents([text[chunk.begin : chunk.end] for chunk in part])
            chunks[first : first + len(part)] = [
                NewChunk(chunk.begin, chunk.end, embedding.vector, embedding.token_codes)
                for chunk, embedding in zip(part, embeddings, strict=True)
            ]
