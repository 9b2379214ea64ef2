"""Locating a pattern, the outline of an entry, and reading a part of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from pgcontext.contracts.faults import WholeMessage
from pgcontext.contracts.fields import (
    ContentTypeName,
    ContextId,
    Flag,
    Identifier,
    Request,
    SourceName,
    Tags,
    VisibilityName,
    bounded,
    to_integer,
)
from pgcontext.contracts.search import CONDITION_SCHEMA, EntryFilters, MetadataConditions
from pgcontext.text.characters import check_characters

MAX_CONTEXT_LINES = 100
_LARGEST = 2**31 - 1


def _check_pattern(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return check_characters(value)


def _at_most_largest(value: Any) -> int:
    """Whatever is larger is beyond every text and every cap."""
    return max(min(to_integer(value), _LARGEST), -1)


def _positive(value: Any) -> int:
    number = _at_most_largest(value)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


_PatternText = Annotated[str, AfterValidator(_check_pattern), WithJsonSchema({"type": "string", "minLength": 1})]
_Place = Annotated[int, BeforeValidator(_at_most_largest)]
_Cap = Annotated[int, Field(ge=1), BeforeValidator(_positive)]
_ContextLines = Annotated[int, Field(ge=0, le=MAX_CONTEXT_LINES), BeforeValidator(bounded(0, MAX_CONTEXT_LINES))]
_Depth = Annotated[int, Field(ge=1, le=6), BeforeValidator(bounded(1, 6))]


class GrepContext(Request):
    """Arguments of grep_context."""

    pattern: _PatternText
    is_regex: Flag = Field(False, description="A Python regular expression instead of literal text")
    case_sensitive: Flag = False
    output_mode: Literal["files_with_matches", "content", "count"] = Field(
        "files_with_matches", description="content: each match with its line and offsets"
    )
    context_lines: _ContextLines = Field(0, description="Lines around each match, for content")
    max_matches: _Cap = 100
    max_entries_scanned: _Cap | None = None
    thread_id: Identifier | None = None
    source: SourceName | None = None
    tags: Tags | None = Field(None, description="Any of these")
    metadata_filters: MetadataConditions | None = Field(None, json_schema_extra={"items": CONDITION_SCHEMA})
    content_type: ContentTypeName | None = None

    def filters(self) -> EntryFilters:
        """The filters in the form that the searches share."""
        return EntryFilters.model_construct(
            thread_id=self.thread_id,
            source=self.source,
            tags=self.tags,
            content_type=self.content_type,
            metadata_filters=self.metadata_filters,
        )


class GrepFound(BaseModel):
    """An entry with matches and their number, or one match, by output mode."""

    context_id: str
    match_count: int = 0
    count: int = 0
    line_number: int = 0
    line: str = ""
    match_start: int = 0
    match_end: int = 0
    before: list[str] = []
    after: list[str] = []
    visibility: VisibilityName
    is_owner: bool


class GrepResult(BaseModel):
    """Result of grep_context; `error` and `validation_errors` when a metadata filter is wrong."""

    mode: Literal["files_with_matches", "content", "count"]
    total_matches: int
    truncated: bool
    results: list[GrepFound]
    error: str = ""
    validation_errors: list[str] = []


class NavigateContext(Request):
    """Arguments of navigate_context."""

    context_id: ContextId
    max_depth: _Depth = Field(6, description="Deepest heading level")
    include_node_summaries: Flag = False


class OutlineNode(BaseModel):
    """A section of a text."""

    node_id: str
    level: int
    ordinal: int
    title: str
    char_start: int
    char_end: int
    summary: str
    children: list[dict[str, Any]] = Field(description="Nodes like this one")


class Outline(BaseModel):
    """Result of navigate_context."""

    context_id: str
    total_chars: int
    node_count: int
    root: OutlineNode
    visibility: VisibilityName
    is_owner: bool


class ReadContextRange(Request):
    """Arguments of read_context_range: characters, lines, or a node."""

    context_id: ContextId
    start_char: _Place | None = None
    end_char: _Place | None = Field(None, description="Exclusive")
    start_line: _Place | None = Field(None, description="From 1")
    end_line: _Place | None = Field(None, description="Inclusive")
    node_id: str | None = Field(None, description="From navigate_context")

    @model_validator(mode="after")
    def _check_mode(self) -> Self:
        by_characters = (self.start_char, self.end_char) != (None, None)
        by_lines = (self.start_line, self.end_line) != (None, None)
        if by_characters + by_lines + (self.node_id is not None) != 1:
            raise WholeMessage("Provide exactly one of start_char/end_char, start_line/end_line and node_id")
        for name, first, last in (
            ("char", self.start_char, self.end_char),
            ("line", self.start_line, self.end_line),
        ):
            if first is not None and last is not None and first > last:
                raise WholeMessage(f"start_{name} must not be greater than end_{name}")
        return self


class ContextRange(BaseModel):
    """Result of read_context_range: the span that was read, and its text."""

    context_id: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    text: str
    visibility: VisibilityName
    is_owner: bool
