"""The three searches that rank: by words, by meaning, and by both."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema

from pgcontext.contracts.fields import Flag, Offset, PageSize, bounded
from pgcontext.contracts.search import EntryFilters, FoundEntry
from pgcontext.text.characters import check_characters

MAX_QUERY_LENGTH = 10_000
MAX_RRF_K = 1000

SearchMode = Literal["match", "prefix", "phrase", "boolean"]
FusionMethod = Literal["rrf", "convex"]


def _check_query(value: str) -> str:
    check_characters(value)
    if not value.strip():
        raise ValueError("must not be blank")
    return value


QueryText = Annotated[
    str, Field(max_length=MAX_QUERY_LENGTH, json_schema_extra={"minLength": 1}), AfterValidator(_check_query)
]
RrfK = Annotated[
    int,
    BeforeValidator(bounded(1, MAX_RRF_K)),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_RRF_K}),
]


class RankedSearch(EntryFilters):
    """What the three have in common."""

    query: QueryText
    limit: PageSize = 5
    offset: Offset = 0
    include_images: Flag = False
    explain_query: Flag = Field(False, description="Add the query plan and timings")


class SemanticSearch(RankedSearch):
    """Arguments of semantic_search_context."""


class FullTextSearch(RankedSearch):
    """Arguments of fts_search_context."""

    mode: SearchMode = Field(
        "match", description='match: all words; prefix: words that begin so; boolean: AND OR NOT ( ) "phrase"'
    )
    highlight: Flag = Field(False, description="Add the passage with <mark> around what matched")


class HybridSearch(RankedSearch):
    """Arguments of hybrid_search_context."""

    fusion_method: FusionMethod = "rrf"
    rrf_k: RrfK | None = Field(None, description="Smoothing of rrf")


class Passage(BaseModel):
    """Where in the text the best match lies; read_context_range takes these offsets."""

    start_char: int
    end_char: int


_RERANK_SCORE: Any = Field(description="0 to 1, or null")
_OF_ONE_LEG: Any = Field(description="Number or null")


class SemanticScores(BaseModel):
    """How near an entry is."""

    semantic_distance: float
    semantic_rank: None = Field(description="Null")
    rerank_score: float | None = _RERANK_SCORE


class FullTextScores(BaseModel):
    """How well the words of an entry match."""

    fts_score: float
    fts_rank: None = Field(description="Null")
    rerank_score: float | None = _RERANK_SCORE


class HybridScores(BaseModel):
    """How an entry did in each leg, and together."""

    rrf: float
    fts_rank: int | None = _OF_ONE_LEG
    semantic_rank: int | None = _OF_ONE_LEG
    fts_score: float | None = _OF_ONE_LEG
    semantic_distance: float | None = _OF_ONE_LEG
    rerank_score: float | None = _RERANK_SCORE


class RankedEntry(FoundEntry):
    """An entry of a ranked result."""

    passage: Passage


class SemanticEntry(RankedEntry):
    """An entry of semantic_search_context."""

    scores: SemanticScores


class FullTextEntry(RankedEntry):
    """An entry of fts_search_context."""

    scores: FullTextScores
    highlighted: str = Field("", description="If asked for")


class HybridEntry(RankedEntry):
    """An entry of hybrid_search_context."""

    scores: HybridScores


class RankDepthLimit(BaseModel):
    """The requested window reaches past what is ranked."""

    requested_offset: int
    requested_limit: int
    rank_depth: int


class RankedResult(BaseModel):
    """What the three results have in common."""

    query: str
    count: int
    warnings: list[str] = []
    rank_depth_limit: RankDepthLimit | None = None
    stats: dict[str, Any] = {}
    error: str = ""
    validation_errors: list[str] = []


class SemanticResult(RankedResult):
    """Result of semantic_search_context."""

    results: list[SemanticEntry]
    model: str


class FullTextResult(RankedResult):
    """Result of fts_search_context."""

    results: list[FullTextEntry]
    mode: SearchMode
    language: str
    fts_available: bool


class HybridResult(RankedResult):
    """Result of hybrid_search_context."""

    results: list[HybridEntry]
    fusion_method: FusionMethod
    search_modes_used: list[str]
    fts_count: int
    semantic_count: int
