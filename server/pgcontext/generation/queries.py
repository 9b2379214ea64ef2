"""Embeddings of queries, kept for a while: agents page through results and repeat what they asked."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from pgcontext.generation.base import EmbeddingFailed, EmbeddingProvider, QueryEmbedding


class QueryEmbedder:
    """Embeds each query once while it is among the latest `capacity`, also when it comes several times at once."""

    def __init__(self, provider: EmbeddingProvider, *, timeout: float, capacity: int = 256) -> None:
        self._provider = provider
        self._timeout = timeout
        self._capacity = capacity
        self._latest: OrderedDict[tuple[str, str], asyncio.Task[QueryEmbedding]] = OrderedDict()

    async def embed(self, text: str) -> QueryEmbedding:
        """The embedding of a query. Raises `EmbeddingFailed`; failures are not kept."""
        key = (self._provider.model, text)
        task = self._latest.get(key)
        if task is None:
            task = self._latest[key] = asyncio.create_task(self._embed(text))
            task.add_done_callback(lambda done: self._forget_failure(key, done))
            if len(self._latest) > self._capacity:
                self._latest.popitem(last=False)
        else:
            self._latest.move_to_end(key)
        # whoever stops waiting does not take the answer from others
        return await asyncio.shield(task)

    async def _embed(self, text: str) -> QueryEmbedding:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._provider.embed_query(text)
        except TimeoutError:
            raise EmbeddingFailed(f"no embedding within {self._timeout:g} s") from None

    def _forget_failure(self, key: tuple[str, str], task: asyncio.Task[QueryEmbedding]) -> None:
        if (task.cancelled() or task.exception()) and self._latest.get(key) is task:
            del self._latest[key]
