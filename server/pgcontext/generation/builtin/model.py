"""The model itself: text in, vectors out. Blocks; `provider` calls it from threads.

all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0) with 8-bit weights. One run yields the sentence's vector and a
vector per token, of which only the signs are stored, a bit per dimension.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from pgcontext.generation.base import DocumentEmbedding, QueryEmbedding, QueryTokens
from pgcontext.text.wordpiece import WordPiece

MAX_TOKENS = 256
"""Of one run, [CLS] and [SEP] included; the model was made for texts of this length."""

_DATA = Path(__file__).parent / "data"
_ERRORS_ONLY = 3
_QUERY_TOKENS = 16
"""More cost time and find nothing more."""
_MOST_FREQUENT_WORD = 1996
"""The id of "the", from which on the vocabulary is ordered by frequency; below stand single characters."""

Vectors = NDArray[np.float32]


class MiniLm:
    """The loaded model; about 100 MB, ready in less than 0.1 s. Safe to use from several threads."""

    def __init__(self) -> None:
        vocabulary = (_DATA / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._tokenizer = WordPiece(vocabulary)
        self._session = onnxruntime.InferenceSession(
            _DATA / "minilm.onnx", _session_options(), providers=["CPUExecutionProvider"]
        )

    def embed_document(self, text: str) -> DocumentEmbedding:
        """What is stored of a text, computed from its first `MAX_TOKENS` tokens."""
        sentence, tokens, _ids = self._run(text)
        return DocumentEmbedding(_stored(sentence), np.packbits(tokens > 0, axis=1).tobytes())

    def embed_query(self, text: str) -> QueryEmbedding:
        """What a text is looked for with: its vector, and its `_QUERY_TOKENS` most telling tokens."""
        sentence, tokens, ids = self._run(text)
        weights = _weights(ids)
        telling = np.sort(np.argsort(-weights, kind="stable")[:_QUERY_TOKENS])
        return QueryEmbedding(_stored(sentence), QueryTokens(_normalise(tokens[telling]), weights[telling]))

    def _run(self, text: str) -> tuple[Vectors, Vectors, NDArray[np.int32]]:
        """The sentence's vector, the tokens' vectors and ids; without [CLS] and [SEP]."""
        ids = np.array([self._tokenizer.encode(text, MAX_TOKENS)], dtype=np.int32)
        # one text per run: nothing is spent on padding, and a text's bytes do not depend on its company
        sentence, tokens = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        return sentence[0], tokens[0, 1:-1], ids[0, 1:-1]


def _stored(vector: Vectors) -> bytes:
    return vector.astype("<f2").tobytes()


def _weights(token_ids: NDArray[np.int32]) -> Vectors:
    """The logarithm of a token's rank by frequency, which by Zipf's law grows as its idf does."""
    ranks = np.maximum(token_ids - _MOST_FREQUENT_WORD, 0)
    weights: Vectors = np.log(2 + ranks).astype(np.float32)
    return weights


def _normalise(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normalised: Vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return normalised


def _session_options() -> onnxruntime.SessionOptions:
    """One thread per run: several runs at once use the cores better than several threads in one."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = _ERRORS_ONLY
    return options
