"""Texts prepared for search, and queries embedded, with providers that fail, hang and count."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import pytest

from pgcontext.generation.base import DocumentEmbedding, EmbeddingFailed, QueryEmbedding
from pgcontext.generation.indexing import TextIndexer
from pgcontext.generation.queries import QueryEmbedder
from pgcontext.storage.values import NewChunk


class Provider:
    """Embeds a text as its own UTF-8; fails on texts with "fail", never ends on texts with "hang"."""

    name = "test"
    model = "test"
    dimension = 1

    def __init__(self) -> None:
        self.running = 0
        self.most_running = 0
        self.requests: list[int] = []
        self.queries: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def embed_documents(self, texts: Sequence[str]) -> list[DocumentEmbedding]:
        self.requests.append(len(texts))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
            await self._obey(" ".join(texts))
        finally:
            self.running -= 1
        return [DocumentEmbedding(text.encode(), b"codes") for text in texts]

    async def embed_query(self, text: str) -> QueryEmbedding:
        self.queries.append(text)
        await self.gate.wait()
        await self._obey(text)
        return QueryEmbedding(text.encode())

    @staticmethod
    async def _obey(text: str) -> None:
        if "fail" in text:
            raise EmbeddingFailed("the model is away")
        if "hang" in text:
            await asyncio.Event().wait()


def indexer(provider: Provider | None, *, size: int | None = 20, timeout: float = 60) -> TextIndexer:
    return TextIndexer(provider, chunk_size=size, chunk_overlap=5, concurrency=3, timeout=timeout)


def is_embedded(chunks: tuple[NewChunk, ...], text: str) -> bool:
    return all(chunk.embedding == text[chunk.begin : chunk.end].encode() for chunk in chunks)


async def test_every_chunk_of_every_text_is_embedded_in_order() -> None:
    texts = [f"{'word ' * number}{number}" for number in range(30)]
    prepared = await indexer(Provider()).prepare(texts)
    assert len(prepared) == len(texts)
    for chunks, text in zip(prepared, texts, strict=True):
        assert (chunks[0].begin, chunks[-1].end) == (0, len(text))
        assert is_embedded(chunks, text)
    assert len(prepared[0]) == 1 < len(prepared[-1])


async def test_no_more_texts_than_allowed_are_embedded_at_once() -> None:
    provider = Provider()
    await indexer(provider).prepare([f"text {number}" for number in range(20)])
    assert provider.most_running == 3


async def test_a_text_that_fails_has_chunks_without_embeddings_and_the_others_have_theirs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        good, bad, also_good = await indexer(Provider()).prepare(["one", "two fail", "three"])
    assert is_embedded(good, "one")
    assert is_embedded(also_good, "three")
    assert bad == (NewChunk(0, 8),)
    assert "1 of 1 chunks of a text were not embedded: the model is away" in caplog.text
    assert "two fail" not in caplog.text, "texts do not belong in the log"


async def test_what_was_embedded_before_the_time_ran_out_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    text = "word " * 400 + "hang"
    (chunks,) = await indexer(Provider(), timeout=0.2).prepare([text])
    assert is_embedded(chunks[:64], text)
    assert chunks[-1].end == len(text)
    assert chunks[-1].embedding is None
    assert "not done after 0.2 s" in caplog.text


async def test_a_long_text_goes_to_the_provider_in_several_requests() -> None:
    provider = Provider()
    (chunks,) = await indexer(provider).prepare(["word " * 30_000])
    assert sum(provider.requests) == len(chunks)
    assert max(provider.requests) == 64


async def test_without_a_provider_texts_are_cut_all_the_same() -> None:
    (chunks,) = await indexer(None).prepare(["word " * 10])
    assert len(chunks) > 1
    assert {chunk.embedding for chunk in chunks} == {None}


async def test_without_chunking_a_text_is_one_chunk() -> None:
    assert await indexer(None, size=None).prepare(["word " * 1000]) == [(NewChunk(0, 5000),)]
    assert await indexer(None).prepare([]) == []


async def test_a_query_is_embedded_once_however_often_and_how_many_at_once_ask_for_it() -> None:
    provider = Provider()
    queries = QueryEmbedder(provider, timeout=60)
    results = await asyncio.gather(*(queries.embed("same") for _ in range(5)), queries.embed("other"))
    assert await queries.embed("same") is results[0]
    assert sorted(provider.queries) == ["other", "same"]


async def test_only_the_latest_queries_are_kept() -> None:
    provider = Provider()
    queries = QueryEmbedder(provider, timeout=60, capacity=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await queries.embed(text)
    assert provider.queries == ["a", "b", "c", "b"]


async def test_a_failure_is_told_and_tried_again() -> None:
    provider = Provider()
    queries = QueryEmbedder(provider, timeout=60)
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="the model is away"):
            await queries.embed("fail")
    assert len(provider.queries) == 2


async def test_a_query_does_not_wait_for_ever() -> None:
    with pytest.raises(EmbeddingFailed, match="no embedding within"):
        await QueryEmbedder(Provider(), timeout=0.01).embed("hang")


async def test_a_caller_who_gives_up_takes_nothing_from_the_others() -> None:
    provider = Provider()
    provider.gate.clear()
    queries = QueryEmbedder(provider, timeout=60)
    first, second = (asyncio.create_task(queries.embed("same")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    provider.gate.set()
    assert (await second).vector == b"same"
    assert provider.queries == ["same"]
