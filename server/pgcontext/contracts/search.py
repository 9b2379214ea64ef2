"""Searching, and the filters that every search tool shares."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgcontext.contracts.entries import EntryOutput, ImageOutput
from pgcontext.contracts.fields import (
    MAX_LIST,
    ContentTypeName,
    EndDate,
    Flag,
    FromJsonText,
    Identifier,
    Offset,
    PageSize,
    Request,
    SourceName,
    StartDate,
    Tags,
)

OPERATORS = (
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "not_in",
    "exists",
    "not_exists",
    "contains",
    "starts_with",
    "ends_with",
    "is_null",
    "is_not_null",
    "array_contains",
)

CONDITION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "key": {"type": "string", "description": "Field name; dots descend into objects"},
        "operator": {"type": "string", "enum": list(OPERATORS)},
        "value": {"description": "String, number or boolean; a list of them for in and not_in"},
        "case_sensitive": {"type": "boolean", "default": False},
    },
    "required": ["key", "operator"],
}


_MetadataPairs = Annotated[dict[str, Any], Field(max_length=MAX_LIST), FromJsonText]
MetadataConditions = Annotated[list[Any], Field(max_length=MAX_LIST), FromJsonText]


class EntryFilters(Request):
    """Which entries a search looks at; all that are given must hold."""

    thread_id: Identifier | None = None
    source: SourceName | None = None
    tags: Tags | None = Field(None, description="Any of these")
    content_type: ContentTypeName | None = None
    metadata: _MetadataPairs | None = Field(None, description="Exact key-value pairs that must all match")
    metadata_filters: MetadataConditions | None = Field(None, json_schema_extra={"items": CONDITION_SCHEMA})
    start_date: StartDate | None = Field(
        None, description="Created on or after; ISO 8601 date or date-time, UTC unless it has an offset"
    )
    end_date: EndDate | None = Field(
        None, description="Created on or before; a date alone includes that whole day"
    )


class SearchContext(EntryFilters):
    """Arguments of search_context."""

    limit: PageSize = 30
    offset: Offset = 0
    include_images: Flag = False
    explain_query: Flag = Field(False, description="Add the query plan and timings")


class FoundEntry(EntryOutput):
    """An entry of a search result; its text may be cut."""

    summary: str
    is_text_content_truncated: bool
    images: list[ImageOutput] = Field([], description="If asked for")


class SearchStats(BaseModel):
    """How a search was executed."""

    execution_time_ms: float
    filters_applied: int
    rows_returned: int
    backend: str
    query_plan: str


class SearchResult(BaseModel):
    """Result of search_context; `error` and `validation_errors` when a metadata filter is wrong."""

    results: list[FoundEntry]
    count: int
    stats: SearchStats | None = None
    error: str = ""
    validation_errors: list[str] = []
