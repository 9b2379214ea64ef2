"""The built-in reranker and the blend of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgcontext.generation.base import QueryTokens
from pgcontext.generation.builtin.provider import BuiltinProvider
from pgcontext.generation.reranking.base import Passage
from pgcontext.generation.reranking.blend import Candidate, blend
from pgcontext.generation.reranking.maxsim import CODE_SIZE, MaxSim, score_codes

DIMENSIONS = 8 * CODE_SIZE

scores_or_none = st.none() | st.floats(-5, 5)


def random_tokens(generator: np.random.Generator, count: int) -> QueryTokens:
    vectors = generator.normal(size=(count, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return QueryTokens(vectors, generator.uniform(0.5, 10, count).astype(np.float32))


def maxsim_by_definition(tokens: QueryTokens, codes: bytes) -> float:
    bits = np.unpackbits(np.frombuffer(codes, np.uint8).reshape(-1, CODE_SIZE), axis=1)
    passage = (bits * 2.0 - 1) / np.sqrt(DIMENSIONS)
    return float(np.average((tokens.vectors @ passage.T).max(axis=1), weights=tokens.weights))


def candidate(
    name: str, previous: str | None = None, fts: float | None = None, distance: float | None = None
) -> Candidate:
    return Candidate(name, previous, fts, distance)


@given(st.integers(0, 2**32), st.integers(1, 20), st.lists(st.integers(0, 30), min_size=1, max_size=12))
def test_scores_are_those_of_the_definition(seed: int, query_length: int, lengths: list[int]) -> None:
    generator = np.random.default_rng(seed)
    tokens = random_tokens(generator, query_length)
    codes = [generator.bytes(CODE_SIZE * length) for length in [*lengths, 1]]
    expected = [maxsim_by_definition(tokens, passage) if passage else None for passage in codes]
    assert score_codes(tokens, codes) == pytest.approx(expected, abs=1e-3)


def test_a_vector_along_its_code_scores_one_without_overflow() -> None:
    vectors = np.full((1, DIMENSIONS), 1 / np.sqrt(DIMENSIONS), dtype=np.float32)
    tokens = QueryTokens(np.vstack([vectors, -vectors]), np.array([3, 1], dtype=np.float32))
    assert score_codes(tokens, [b"\xff" * CODE_SIZE]) == pytest.approx([0.5], abs=1e-3)
    assert score_codes(tokens, [b"\xff" * CODE_SIZE + b"\x00" * CODE_SIZE]) == pytest.approx([1], abs=1e-3)


async def test_what_has_no_tokens_is_not_judged() -> None:
    tokens = random_tokens(np.random.default_rng(1), 3)
    passages = [Passage(None), Passage(b"\x01" * CODE_SIZE), Passage(b"")]
    first, second, third = await MaxSim().score("words", tokens, passages)
    assert (first, third) == (None, None)
    assert second is not None
    assert await MaxSim().score("words", None, passages) == [None] * 3
    assert await MaxSim().score("words", tokens, [Passage(None)]) == [None]
    assert await MaxSim().score("", random_tokens(np.random.default_rng(1), 0), passages) == [None] * 3


async def test_many_passages_have_the_scores_they_have_alone() -> None:
    generator = np.random.default_rng(2)
    tokens = random_tokens(generator, 9)
    passages = [Passage(generator.bytes(CODE_SIZE * 100)) for _ in range(60)]
    together = await MaxSim().score("words", tokens, passages)
    alone = [(await MaxSim().score("words", tokens, [passage]))[0] for passage in passages]
    assert together == pytest.approx(alone, abs=1e-6)


async def test_the_passage_that_answers_comes_before_one_on_the_same_subject() -> None:
    provider = BuiltinProvider(workers=1)
    texts = [
        "Anna said the ferry was late again.",
        "The ferry leaves at eight in the morning.",
        "Lunch is at noon.",
    ]
    documents = await provider.embed_documents(texts)
    query = await provider.embed_query("What time does the ferry leave?")
    await provider.close()
    scores = await MaxSim().score("", query.tokens, [Passage(document.token_codes) for document in documents])
    assert max(range(3), key=lambda index: scores[index] or -1) == 1


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(0, 9),
            st.none() | st.floats(0, 50),
            st.none() | st.floats(0, 2),
            scores_or_none,
        ),
        max_size=10,
    ),
    st.floats(0, 0.5),
)
def test_blended_scores_are_from_0_to_1(
    rows: list[tuple[int | None, float | None, float | None, float | None]], weight: float
) -> None:
    candidates = [
        Candidate(str(index), None if previous is None else str(previous), fts, distance)
        for index, (previous, fts, distance, _) in enumerate(rows)
    ]
    scores = blend(candidates, [row[3] for row in rows], weight)
    assert len(scores) == len(rows)
    assert all(0 <= score <= 1 for score in scores)


@given(st.lists(st.floats(0, 20), min_size=2, max_size=8, unique=True))
def test_without_reranking_and_neighbours_the_order_of_the_search_stays(fts: list[float]) -> None:
    by_words = [candidate(str(index), fts=score) for index, score in enumerate(fts)]
    scores = blend(by_words, [None] * len(fts), 0.3)
    assert all(scores[i] <= scores[j] for i in range(len(fts)) for j in range(len(fts)) if fts[i] < fts[j])


def test_found_by_words_and_by_meaning_counts_more_than_by_one() -> None:
    both, words, meaning, far = blend(
        [
            candidate("both", fts=4, distance=0.5),
            candidate("words", fts=4),
            candidate("meaning", distance=0.5),
            candidate("far", distance=1.2),
        ],
        [None] * 4,
        0,
    )
    assert both > words == meaning > far


def test_reranking_outweighs_the_search() -> None:
    worst, best = blend([candidate("a", fts=9), candidate("b", fts=1)], [0.1, 0.8], 0)
    assert best == pytest.approx(0.6)
    assert worst == pytest.approx(0.4)


def test_what_could_not_be_reranked_keeps_its_search_score() -> None:
    scores = blend([candidate("a", fts=4), candidate("b", fts=3), candidate("c", fts=2)], [0.9, None, 0.1], 0)
    assert scores == pytest.approx([1, 0.5, 0])


def test_an_entry_rises_when_the_entry_before_or_after_it_matches() -> None:
    found = [
        candidate("question", fts=9),
        candidate("answer", "question", fts=3),
        candidate("other", "x", fts=3),
        candidate("last", "y", fts=1),
    ]
    alone = blend(found, [None] * 4, 0)
    assert alone[1] == alone[2]
    raised = blend(found, [None] * 4, 0.3)
    assert raised[0] == 1
    assert raised[1] > raised[2] == alone[2]
    before = blend([candidate("a", fts=3), candidate("b", "a", fts=9), candidate("c", fts=1)], [None] * 3, 0.3)
    after = blend([candidate("a", fts=9), candidate("b", "a", fts=3), candidate("c", fts=1)], [None] * 3, 0.3)
    assert 0.25 < before[0] < after[1], "the entry after a match rises more than the one before it"
