"""Planning the sync of a corpus, and listing what it holds."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from pgcontext.contracts.faults import WholeMessage
from pgcontext.contracts.fields import (
    MAX_IDENTIFIER_LENGTH,
    Flag,
    FromJsonText,
    Identifier,
    Request,
    bounded,
)
from pgcontext.text.characters import check_characters
from pgcontext.text.cursors import INVALID_CURSOR

MAX_MANIFEST = 1000
MAX_STATE_PAGE = 200
_DIGEST_LENGTH = 64
_DIGEST = re.compile(rf"[0-9a-f]{{{_DIGEST_LENGTH}}}")


def _check_source_id(value: str) -> str:
    check_characters(value)
    if not 1 <= len(value) <= MAX_IDENTIFIER_LENGTH:
        raise ValueError(f"must be 1 to {MAX_IDENTIFIER_LENGTH} characters")
    return value


def _check_digest(value: str) -> str:
    folded = value.lower()
    if not _DIGEST.fullmatch(folded):
        raise ValueError(f"must be {_DIGEST_LENGTH} hex digits")
    return folded


def _check_cursor(value: Any) -> str:
    if not isinstance(value, str):
        raise WholeMessage(INVALID_CURSOR)
    return value


SourceId = Annotated[
    str,
    AfterValidator(_check_source_id),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_IDENTIFIER_LENGTH}),
]
Digest = Annotated[
    str,
    AfterValidator(_check_digest),
    WithJsonSchema({"type": "string", "minLength": _DIGEST_LENGTH, "maxLength": _DIGEST_LENGTH}),
]
Cursor = Annotated[str, BeforeValidator(_check_cursor)]
StatePageSize = Annotated[int, Field(ge=1, le=MAX_STATE_PAGE), BeforeValidator(bounded(1, MAX_STATE_PAGE))]


class ManifestItemInput(Request):
    """One source document: its digests, or `keep`."""

    source_id: SourceId
    text_digest: Digest | None = Field(None, description="SHA-256 of the text without surrounding white space")
    meta_digest: Digest | None = None
    keep: Flag = Field(False, description="Unreadable this time: leave its entries alone; takes no digests")

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.keep and (self.text_digest is not None or self.meta_digest is not None):
            raise ValueError("a keep item takes no digest")
        if not self.keep and (self.text_digest is None or self.meta_digest is None):
            raise ValueError("needs text_digest and meta_digest, or keep")
        return self


class PlanContextSync(Request):
    """Arguments of plan_context_sync."""

    thread_id: Identifier = Field(description="The corpus, such as kb:handbook")
    manifest: Annotated[list[ManifestItemInput], Field(max_length=MAX_MANIFEST), FromJsonText]
    source_id_after: SourceId | None = Field(None, description="Plan sources after this one, by code point")
    source_id_through: SourceId | None = Field(None, description="Plan sources up to this one")
    allow_empty_manifest: Flag = Field(False, description="Plan to delete all, when the manifest is empty")

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        after, through = self.source_id_after, self.source_id_through
        if after is not None and through is not None and not after < through:
            raise ValueError("source_id_after must sort before source_id_through")
        if not self.manifest and not self.allow_empty_manifest:
            raise ValueError(
                "manifest: is empty, which deletes every document; allow_empty_manifest confirms that"
            )
        seen: dict[str, int] = {}
        for place, item in enumerate(self.manifest):
            if (earlier := seen.setdefault(item.source_id, place)) != place:
                raise ValueError(f"manifest[{place}]: has the source_id of manifest[{earlier}]")
            if (after is not None and item.source_id <= after) or (
                through is not None and item.source_id > through
            ):
                raise ValueError(f"manifest[{place}]: source_id is not within the range that is planned")
        return self


class UpdateOutput(BaseModel):
    """An entry to update from the manifest item of this index."""

    index: int
    context_id: str
    change: Literal["text", "metadata", "both"]


class DeleteOutput(BaseModel):
    """An entry to delete."""

    context_id: str
    source_id: str
    reason: Literal["absent", "duplicate"]


class SyncPlanOutput(BaseModel):
    """Result of plan_context_sync; `creates` are indices into the manifest."""

    thread_id: str
    creates: list[int]
    updates: list[UpdateOutput]
    deletes: list[DeleteOutput]
    deletes_total: int
    unchanged_count: int
    kept_count: int
    foreign_count: int


class ListIngestState(Request):
    """Arguments of list_ingest_state."""

    thread_id: Identifier = Field(description="The corpus, such as kb:handbook")
    limit: StatePageSize = 100
    cursor: Cursor | None = Field(None, description="next_cursor of the previous page")


class StateOutput(BaseModel):
    """One managed entry."""

    context_id: str
    source_id: str
    text_digest: str
    meta_digest: str
    synced_at: str


class IngestStatePage(BaseModel):
    """Result of list_ingest_state; `next_cursor` is null on the last page."""

    thread_id: str
    entries: list[StateOutput]
    count: int
    next_cursor: str | None = Field(description="Null on the last page")
