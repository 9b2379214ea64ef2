"""The built-in embedding model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio

from pgcontext.generation.base import EmbeddingFailed
from pgcontext.generation.builtin.provider import BuiltinProvider

LONG_TEXT = "The ferry to the island leaves every morning at eight. " * 200


@pytest_asyncio.fixture(scope="module")
async def provider() -> AsyncIterator[BuiltinProvider]:
    provider = BuiltinProvider(workers=2)
    await provider.open()
    yield provider
    await provider.close()


def numbers(vector: bytes) -> np.ndarray:
    return np.frombuffer(vector, dtype="<f2").astype(np.float64)


async def test_a_vector_has_the_announced_dimension_and_length_one(provider: BuiltinProvider) -> None:
    (embedding,) = await provider.embed_documents(["The harbour is closed on Sundays."])
    vector = numbers(embedding.vector)
    assert vector.shape == (provider.dimension,)
    assert vector @ vector == pytest.approx(1, abs=2e-3)


async def test_the_same_text_has_the_same_bytes_alone_and_among_others(provider: BuiltinProvider) -> None:
    text = "Backups run at night."
    (alone,) = await provider.embed_documents([text])
    among = await provider.embed_documents([LONG_TEXT, text, "x", text])
    assert among[1] == among[3] == alone
    assert (await provider.embed_query(text)).vector == alone.vector


async def test_texts_on_one_subject_are_nearer_than_others(provider: BuiltinProvider) -> None:
    cat, kitten, tax = await provider.embed_documents(
        ["A cat sleeps on the sofa.", "The kitten naps on a couch.", "Tax returns are due in July."]
    )
    query = numbers((await provider.embed_query("Where does the cat sleep?")).vector)
    assert query @ numbers(cat.vector) > query @ numbers(kitten.vector) > query @ numbers(tax.vector)


async def test_every_token_has_a_code_up_to_the_limit_of_the_model(provider: BuiltinProvider) -> None:
    few, many, none = await provider.embed_documents(["two words", LONG_TEXT, "  "])
    assert [len(embedding.token_codes or b"") for embedding in (few, many, none)] == [2 * 16, 254 * 16, 0]


async def test_a_query_has_one_vector_and_one_weight_per_token(provider: BuiltinProvider) -> None:
    tokens = (await provider.embed_query("the harbour")).tokens
    assert tokens is not None
    assert tokens.vectors.shape == (len(tokens.weights), 128)
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert 0 < tokens.weights[0] < tokens.weights[1], "rarer words weigh more"


async def test_results_come_in_the_order_of_the_texts(provider: BuiltinProvider) -> None:
    texts = [f"{'word ' * (50 - number)}{number}" for number in range(12)]
    together = await provider.embed_documents(texts)
    assert together == [(await provider.embed_documents([text]))[0] for text in texts]
    assert await provider.embed_documents([]) == []


async def test_a_query_and_a_short_call_do_not_wait_for_a_long_one(provider: BuiltinProvider) -> None:
    long_call = asyncio.create_task(provider.embed_documents([LONG_TEXT] * 100))
    await asyncio.sleep(0)
    await provider.embed_query("Which one is first?")
    await provider.embed_documents(["A short text."])
    assert not long_call.done()
    long_call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long_call


async def test_after_closing_requests_fail_and_say_so() -> None:
    provider = BuiltinProvider(workers=1)
    await provider.close()
    with pytest.raises(EmbeddingFailed):
        await provider.embed_query("anything")
    with pytest.raises(EmbeddingFailed):
        await provider.embed_documents(["anything"])
