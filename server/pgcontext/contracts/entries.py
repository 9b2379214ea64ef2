"""Storing, reading, changing and deleting entries, one at a time or in batches."""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, model_validator

from pgcontext.contracts.faults import WholeMessage
from pgcontext.contracts.fields import (
    MAX_LIST,
    ContentTypeName,
    ContextId,
    ContextIds,
    Days,
    EntryText,
    Flag,
    FromJsonText,
    Identifier,
    Items,
    JsonObject,
    Request,
    SourceName,
    Tags,
    ThreadIds,
    VisibilityName,
    to_boolean,
)
from pgcontext.contracts.limits import Limits
from pgcontext.contracts.schema import plain_schema
from pgcontext.text.characters import check_characters
from pgcontext.text.metadata import indexed_field_faults, normalise_metadata

_IMAGE_TYPE = re.compile(r"image/[A-Za-z0-9][A-Za-z0-9.+-]{0,126}", re.ASCII)


def limits_of(info: ValidationInfo) -> Limits:
    """The limits this validation runs under."""
    return info.context if isinstance(info.context, Limits) else Limits()


def _check_metadata(value: Mapping[str, Any], info: ValidationInfo) -> dict[str, Any]:
    metadata = normalise_metadata(value)
    if faults := indexed_field_faults(metadata, limits_of(info).indexed_fields):
        raise ValueError("; ".join(faults))
    return metadata


def _check_image_data(value: str, info: ValidationInfo) -> str:
    limit = limits_of(info).max_image_bytes
    if decoded_size(value) > limit:
        raise ValueError(f"an image must be at most {limit // 2**20} MB")
    try:
        is_empty = not binascii.a2b_base64(value.encode(), strict_mode=True)
    except ValueError:
        raise ValueError("must be standard base64 without white space") from None
    if is_empty:
        raise ValueError("must not be empty")
    return value


def decoded_size(data: str) -> int:
    """The number of bytes that base64 text stands for."""
    return len(data) // 4 * 3 - data[-2:].count("=")


def _check_image_type(value: str) -> str:
    if not _IMAGE_TYPE.fullmatch(value):
        raise ValueError("must be an image type such as image/png")
    return value


class ImageInput(Request):
    """An image to store."""

    data: Annotated[str, AfterValidator(_check_image_data), Field(description="Base64")]
    mime_type: Annotated[str, AfterValidator(_check_image_type), Field(description="image/...")]
    metadata: Annotated[str, AfterValidator(check_characters)] | None = Field(
        None, description="JSON text, kept verbatim"
    )


def _check_images(images: list[ImageInput], info: ValidationInfo) -> list[ImageInput]:
    limit = limits_of(info).max_total_bytes
    if sum(decoded_size(image.data) for image in images) > limit:
        raise ValueError(f"the images must be at most {limit // 2**20} MB together")
    return images


Images = Annotated[
    list[ImageInput],
    # naming what is wrong with each of a million images would cost more than storing them
    Field(max_length=MAX_LIST, fail_fast=True),
    FromJsonText,
    AfterValidator(_check_images),
]
Metadata = Annotated[JsonObject, AfterValidator(_check_metadata)]


def _to_deduplicate(value: Any) -> bool:
    try:
        return to_boolean(value)
    except ValueError as error:
        raise WholeMessage(f"deduplicate {error}") from None


Deduplicate = Annotated[bool, BeforeValidator(_to_deduplicate)]


class StoreContext(Request):
    """Arguments of store_context, and of one entry of store_context_batch."""

    thread_id: Identifier = Field(description="Conversation or task the entry belongs to")
    source: SourceName = Field(description="Whose words these are")
    text: EntryText
    images: Images | None = None
    metadata: Metadata | None = Field(None, description="Any JSON object")
    tags: Tags | None = None
    visibility: VisibilityName | None = Field(None, description="Who reads it: owner and grantees, or everyone")
    deduplicate: Deduplicate = Field(
        True, description="Merge with your identical latest entry instead of adding another"
    )


class UpdateContext(Request):
    """Arguments of update_context, and of one update of update_context_batch."""

    context_id: ContextId = Field(description="Id, or its first 8 or more hex digits")
    text: EntryText | None = None
    metadata: Metadata | None = Field(None, description="Replaces all metadata")
    metadata_patch: Metadata | None = Field(None, description="JSON Merge Patch; null deletes a key")
    tags: Tags | None = Field(None, description="Replaces all tags")
    images: Images | None = Field(None, description="Replaces all images")
    visibility: VisibilityName | None = None

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if self.metadata is not None and self.metadata_patch is not None:
            raise ValueError("metadata and metadata_patch are mutually exclusive; give one of them")
        if not self.model_fields_set - {"context_id"}:
            raise ValueError(
                "Nothing to update: give at least one of text, metadata, metadata_patch, tags, images, visibility"
            )
        return self


class GetContextByIds(Request):
    """Arguments of get_context_by_ids."""

    context_ids: ContextIds
    include_images: Flag = True


class DeleteContext(Request):
    """Arguments of delete_context."""

    context_ids: ContextIds | None = None
    thread_id: Identifier | None = None

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if (self.context_ids is None) == (self.thread_id is None):
            raise ValueError("Give exactly one of context_ids and thread_id")
        return self


class StoreContextBatch(Request):
    """Arguments of store_context_batch; each entry is validated on its own."""

    entries: Items = Field(json_schema_extra={"items": plain_schema(StoreContext)})
    atomic: Flag = Field(True, description="All or nothing")


class UpdateContextBatch(Request):
    """Arguments of update_context_batch; each update is validated on its own."""

    updates: Items = Field(json_schema_extra={"items": plain_schema(UpdateContext)})
    atomic: Flag = Field(True, description="All or nothing")


class DeleteContextBatch(Request):
    """Arguments of delete_context_batch: criteria that all must hold."""

    context_ids: ContextIds | None = None
    thread_ids: ThreadIds | None = None
    source: SourceName | None = None
    older_than_days: Days | None = None

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        given = self.criteria()
        if not given:
            raise ValueError("Give at least one of context_ids, thread_ids, source, older_than_days")
        if given in (["source"], ["older_than_days"]):
            raise WholeMessage(
                f"{given[0]} alone would reach nearly every entry; combine it with another criterion"
            )
        return self

    def criteria(self) -> list[str]:
        """The names of the criteria given."""
        names = ("context_ids", "thread_ids", "source", "older_than_days")
        return [name for name in names if getattr(self, name) is not None]


class ImageOutput(BaseModel):
    """An image as stored; `metadata` only where it has some."""

    data: str
    mime_type: str
    metadata: str | None = None


class EntryOutput(BaseModel):
    """What every result shows of an entry."""

    id: str
    thread_id: str
    source: SourceName
    content_type: ContentTypeName
    text_content: str
    metadata: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    visibility: VisibilityName
    is_owner: bool


class FullEntry(EntryOutput):
    """An entry of get_context_by_ids."""

    summary: str = Field("", description="If switched on")
    images: list[ImageOutput] = Field([], description="If asked for")


class EntryList(BaseModel):
    """Result of get_context_by_ids."""

    results: list[FullEntry]
    count: int


class Stored(BaseModel):
    """Result of store_context."""

    success: bool
    context_id: str
    thread_id: str
    message: str


class Updated(BaseModel):
    """Result of update_context."""

    success: bool
    context_id: str
    updated_fields: list[str]
    message: str


class Deleted(BaseModel):
    """Result of delete_context."""

    success: bool
    deleted_count: int
    message: str


class DeletedBatch(Deleted):
    """Result of delete_context_batch."""

    criteria_used: list[str]


class BatchItem(BaseModel):
    """The outcome of one item of a batch; `context_id` on success, `error` on failure."""

    index: int
    success: bool
    context_id: str = ""
    error: str = ""


class BatchResult(BaseModel):
    """Result of store_context_batch and update_context_batch."""

    success: bool
    total: int
    succeeded: int
    failed: int
    results: list[BatchItem]
    message: str
