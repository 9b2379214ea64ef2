"""MaxSim, the built-in reranker: late interaction of query tokens with stored token codes.

Each token of the query takes its best match among the tokens of the passage, and the passage's score is their
weighted mean (Khattab and Zaharia, ColBERT, 2020). A token code stands for the vector of its signs, so that a
product is the sum of 16 values looked up by the code's bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgcontext.generation.base import QueryTokens
from pgcontext.generation.reranking.base import Passage

CODE_SIZE = 16
"""Bytes of a token code."""
_SCALE = 2800
"""Makes products integers: 128 signs times a vector of length one give at most 11.4, and int16 holds 32,767."""
_LONG_WORK = 4000
"""Tokens in all passages from which on a thread is worth its while: about half a millisecond."""


class MaxSim:
    """Reranking with the token codes of the built-in embedding model."""

    name = "builtin"
    model = "maxsim"
    reads_texts = False

    async def score(
        self, query: str, tokens: QueryTokens | None, passages: Sequence[Passage]
    ) -> list[float | None]:
        """Scores from -1 to 1; None where the query or a passage has no tokens."""
        codes = [passage.token_codes or b"" for passage in passages]
        if tokens is None or not len(tokens.weights) or not any(codes):
            return [None] * len(passages)
        if sum(map(len, codes)) < _LONG_WORK * CODE_SIZE:
            return score_codes(tokens, codes)
        return await asyncio.to_thread(score_codes, tokens, codes)


def score_codes(tokens: QueryTokens, codes: Sequence[bytes]) -> list[float | None]:
    """The MaxSim of each passage's codes, of which at least one is not empty."""
    present = [passage for passage in codes if passage]
    bytes_of_tokens = np.frombuffer(b"".join(present), dtype=np.uint8).reshape(-1, CODE_SIZE)
    begins = np.cumsum([0, *(len(passage) // CODE_SIZE for passage in present[:-1])])
    best = np.maximum.reduceat(_products(tokens.vectors, bytes_of_tokens), begins, axis=0)
    weights = tokens.weights / (tokens.weights.sum() * _SCALE * np.sqrt(8 * CODE_SIZE))
    scores = iter((best @ weights).tolist())
    return [next(scores) if passage else None for passage in codes]


def _products(vectors: NDArray[np.float32], codes: NDArray[np.uint8]) -> NDArray[np.int16]:
    """The product of each code's signs (rows) with each vector (columns), times `_SCALE`."""
    parts = vectors.reshape(len(vectors), CODE_SIZE, 8).transpose(1, 2, 0)
    tables = np.rint(_signs() @ parts * _SCALE).astype(np.int16)
    columns = np.ascontiguousarray(codes.T)
    products: NDArray[np.int16] = tables[0].take(columns[0], axis=0)
    for table, column in zip(tables[1:], columns[1:], strict=True):
        products += table.take(column, axis=0)
    return products


@cache
def _signs() -> NDArray[np.float32]:
    """The bits of every byte, as -1 and 1."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1)
    return bits.astype(np.float32) * 2 - 1
