"""The built-in model as an embedding provider: runs in threads, loaded when first needed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pgcontext.generation.base import DocumentEmbedding, EmbeddingFailed, QueryEmbedding

if TYPE_CHECKING:
    from pgcontext.generation.builtin.model import MiniLm

Result = TypeVar("Result")


class BuiltinProvider:
    """all-MiniLM-L6-v2 in the server's own process.

    Documents have `workers` threads, queries as many of their own, so that a query never waits behind documents.
    A call keeps no more than `workers` of its texts in the queue, so that calls with few texts get their turn
    beside one with thousands.
    """

    name = "builtin"
    model = "all-MiniLM-L6-v2"
    dimension = 384

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._documents = ThreadPoolExecutor(workers, thread_name_prefix="embed-document")
        self._queries = ThreadPoolExecutor(workers, thread_name_prefix="embed-query")
        self._loading = threading.Lock()
        self._model: MiniLm | None = None

    async def open(self) -> None:
        """Load the model; without this the first request does."""
        await self._run(self._queries, self._loaded)

    async def close(self) -> None:
        """Let runs that have begun end, and drop what waits."""
        for executor in (self._queries, self._documents):
            executor.shutdown(wait=False, cancel_futures=True)
        self._model = None

    async def embed_documents(self, texts: Sequence[str]) -> list[DocumentEmbedding]:
        """The embeddings of texts, in their order. Raises `EmbeddingFailed`."""
        embeddings: dict[int, DocumentEmbedding] = {}
        waiting = iter(enumerate(texts))

        async def work() -> None:
            for index, text in waiting:
                embeddings[index] = await self._run(self._documents, partial(self._embed_document, text))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._workers, len(texts))):
                    group.create_task(work())
        except* EmbeddingFailed as failures:
            raise failures.exceptions[0] from None
        return [embeddings[index] for index in range(len(texts))]

    async def embed_query(self, text: str) -> QueryEmbedding:
        """The embedding of a query. Raises `EmbeddingFailed`."""
        return await self._run(self._queries, partial(self._embed_query, text))

    def _embed_document(self, text: str) -> DocumentEmbedding:
        return self._loaded().embed_document(text)

    def _embed_query(self, text: str) -> QueryEmbedding:
        return self._loaded().embed_query(text)

    def _loaded(self) -> MiniLm:
        with self._loading:
            if self._model is None:
                # numpy and the runtime take longer to import than everything else; only threads wait for them
                from pgcontext.generation.builtin.model import MiniLm

                self._model = MiniLm()
            return self._model

    @staticmethod
    async def _run(executor: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, work)
        except Exception as error:
            raise EmbeddingFailed(f"the built-in model failed: {error}") from error
