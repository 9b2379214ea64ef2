"""store_context, get_context_by_ids, update_context, delete_context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pgcontext.contracts.entries import (
    DeleteContext,
    Deleted,
    EntryList,
    GetContextByIds,
    ImageInput,
    StoreContext,
    Stored,
    UpdateContext,
    Updated,
)
from pgcontext.errors import EntryNotFound
from pgcontext.storage.values import EntryChange, Image, NewEntry
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.identifiers import resolve_id, resolve_ids
from pgcontext.tools.rendering import load_images, render_entry

_FIELD_NAMES = {
    "text": "text_content",
    "metadata": "metadata",
    "metadata_patch": "metadata",
    "tags": "tags",
    "images": "images",
    "visibility": "visibility",
}


async def new_entries(context: ToolContext, requests: Sequence[StoreContext]) -> list[NewEntry]:
    """What the store is to keep, with the chunks of the texts."""
    chunks = await context.generators.prepare([request.text for request in requests])
    return [replace(_new_entry(request), chunks=each) for request, each in zip(requests, chunks, strict=True)]


def _new_entry(request: StoreContext) -> NewEntry:
    return NewEntry(
        thread_id=request.thread_id,
        source=request.source,
        text=request.text,
        metadata=request.metadata,
        tags=None if request.tags is None else tuple(request.tags),
        images=_images(request.images),
        visibility=request.visibility,
        deduplicate=request.deduplicate,
    )


def entry_change(request: UpdateContext, entry_id: str, expected_version: int | None) -> EntryChange:
    """What the store is to change."""
    return EntryChange(
        entry_id=entry_id,
        expected_version=expected_version,
        text=request.text,
        metadata=request.metadata,
        metadata_patch=request.metadata_patch,
        tags=None if request.tags is None else tuple(request.tags),
        images=_images(request.images),
        visibility=request.visibility,
    )


async def with_chunks(context: ToolContext, changes: Sequence[EntryChange]) -> list[EntryChange]:
    """The changes, those of a text with the chunks of the new one."""
    texts = {index: change.text for index, change in enumerate(changes) if change.text is not None}
    prepared = dict(zip(texts, await context.generators.prepare(list(texts.values())), strict=True))
    return [replace(change, chunks=prepared.get(index)) for index, change in enumerate(changes)]


def needs_version(request: UpdateContext) -> bool:
    """Whether a change depends on the version it was computed from; a patch alone fits any version."""
    return request.model_fields_set != {"context_id", "metadata_patch"}


def _images(images: Sequence[ImageInput] | None) -> tuple[Image, ...] | None:
    if images is None:
        return None
    return tuple(Image(image.data, image.mime_type, image.metadata) for image in images)


async def _store_context(context: ToolContext, request: StoreContext) -> dict[str, Any]:
    entries = await new_entries(context, [request])
    [outcome] = await context.store.store_entries(context.caller, entries, atomic=False)
    if outcome.error is not None:
        raise outcome.error
    return {
        "success": True,
        "context_id": outcome.entry_id,
        "thread_id": request.thread_id,
        "message": "Stored" if outcome.is_new else "Merged into the identical entry stored before",
    }


async def _get_context_by_ids(context: ToolContext, request: GetContextByIds) -> dict[str, Any]:
    ids = await resolve_ids(context, request.context_ids)
    entries = await context.store.get_entries(context.caller, ids)
    images = await load_images(context, entries) if request.include_images else None
    with_summary = context.settings.get_context_by_ids_include_summary
    results = [
        render_entry(entry, {"summary": entry.summary or ""} if with_summary else {}, images) for entry in entries
    ]
    return {"results": results, "count": len(results)}


async def _update_context(context: ToolContext, request: UpdateContext) -> dict[str, Any]:
    entry_id = await resolve_id(context, request.context_id)
    version = None
    if needs_version(request):
        rights = await context.store.get_entry_rights(context.caller, [entry_id])
        if not rights:
            raise EntryNotFound(entry_id)
        version = rights[0].version
    changes = await with_chunks(context, [entry_change(request, entry_id, version)])
    [outcome] = await context.store.update_entries(context.caller, changes, atomic=False)
    if outcome.error is not None:
        raise outcome.error
    fields = [name for parameter, name in _FIELD_NAMES.items() if parameter in request.model_fields_set]
    return {
        "success": True,
        "context_id": entry_id,
        "updated_fields": fields,
        "message": f"Updated {', '.join(fields)}",
    }


async def _delete_context(context: ToolContext, request: DeleteContext) -> dict[str, Any]:
    ids = None if request.context_ids is None else await resolve_ids(context, request.context_ids)
    threads = None if request.thread_id is None else [request.thread_id]
    count = await context.store.delete_entries(context.caller, ids, threads, None, None)
    return {"success": True, "deleted_count": count, "message": deletion_message(count)}


def deletion_message(count: int) -> str:
    """How many entries are gone, in words."""
    return "Deleted 1 entry" if count == 1 else f"Deleted {count} entries"


STORE_CONTEXT = Tool(
    name="store_context",
    description="Remember something: store one text, with optional images, tags and metadata, in a thread.",
    request=StoreContext,
    response=Stored,
    handle=_store_context,
    writes=True,
)
GET_CONTEXT_BY_IDS = Tool(
    name="get_context_by_ids",
    description=(
        "Read entries in full, once a search has given their ids. "
        "Ids that do not exist or are hidden from you are left out."
    ),
    request=GetContextByIds,
    response=EntryList,
    handle=_get_context_by_ids,
)
UPDATE_CONTEXT = Tool(
    name="update_context",
    description="Change parts of one entry. Only what you give changes; use metadata_patch to change single keys.",
    request=UpdateContext,
    response=Updated,
    handle=_update_context,
    writes=True,
    is_destructive=True,
    is_idempotent=True,
)
DELETE_CONTEXT = Tool(
    name="delete_context",
    description="Delete your own entries for good, either by id or all those in one thread.",
    request=DeleteContext,
    response=Deleted,
    handle=_delete_context,
    writes=True,
    is_destructive=True,
    is_idempotent=True,
)
