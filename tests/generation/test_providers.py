"""What the settings choose."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pgcontext.generation.builtin.provider import BuiltinProvider
from pgcontext.generation.providers import create_embedding_provider, create_indexer, create_reranking_provider
from pgcontext.generation.reranking.maxsim import MaxSim
from support.options import settings_for


def test_out_of_the_box_texts_are_embedded_and_results_reranked() -> None:
    settings = settings_for()
    provider = create_embedding_provider(settings)
    assert isinstance(provider, BuiltinProvider)
    assert (provider.model, provider.dimension) == (settings.embedding_model, settings.embedding_dim)
    assert isinstance(create_reranking_provider(settings), MaxSim)


@pytest.mark.parametrize("values", [{"embedding_provider": "none"}, {"enable_embedding_generation": False}])
def test_embedding_can_be_turned_off(values: dict[str, Any]) -> None:
    assert create_embedding_provider(settings_for(**values)) is None


@pytest.mark.parametrize("values", [{"reranking_provider": "none"}, {"enable_reranking": False}])
def test_reranking_can_be_turned_off(values: dict[str, Any]) -> None:
    assert create_reranking_provider(settings_for(**values)) is None


@pytest.mark.parametrize("enabled, chunks", [(True, 3), (False, 1)])
async def test_chunks_follow_the_settings(enabled: bool, chunks: int) -> None:
    indexer = create_indexer(settings_for(enable_chunking=enabled, chunk_size=100, chunk_overlap=10), None)
    (prepared,) = await indexer.prepare(["word " * 50])
    assert len(prepared) == chunks


@pytest.mark.parametrize(
    "values, message",
    [
        ({"chunk_size": 200, "chunk_overlap": 101}, "CHUNK_OVERLAP must be at most half of CHUNK_SIZE"),
        ({"embedding_model": "other"}, "EMBEDDING_MODEL: the built-in provider has only 'all-MiniLM-L6-v2'"),
        ({"embedding_dim": 768}, "EMBEDDING_DIM must be 384"),
        ({"embedding_provider": "unheard-of"}, "'builtin' or 'none'"),
        ({"chunk_aggregation": "mean"}, "Input should be 'max'"),
        ({"reranking_neighbour_weight": 0.6}, "less than or equal to 0.5"),
    ],
)
def test_settings_that_cannot_work_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        settings_for(**values)
