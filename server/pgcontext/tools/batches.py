"""store_context_batch, update_context_batch, delete_context_batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from pgcontext.contracts.entries import (
    BatchResult,
    DeleteContextBatch,
    DeletedBatch,
    StoreContext,
    StoreContextBatch,
    UpdateContext,
    UpdateContextBatch,
)
from pgcontext.contracts.faults import describe_faults
from pgcontext.contracts.fields import Request
from pgcontext.contracts.limits import Limits
from pgcontext.errors import AtIndex, InvalidArgument, PgcontextError
from pgcontext.storage.values import EntryChange, WriteOutcome
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.entries import deletion_message, entry_change, needs_version, new_entries, with_chunks
from pgcontext.tools.identifiers import resolve_each, resolve_ids
from pgcontext.tools.offloading import run_off_loop

MAX_DAYS = 4_000_000
"""More days than there are between the years 1 and 9999."""

ItemT = TypeVar("ItemT", bound=Request)


async def _validate_items(
    context: ToolContext, kind: type[ItemT], items: Sequence[Any], atomic: bool
) -> list[ItemT | PgcontextError]:
    validated = await run_off_loop(items, _validate, kind, items, context.limits)
    if atomic:
        _raise_first(validated)
    return validated


def _validate(kind: type[ItemT], items: Sequence[Any], limits: Limits) -> list[ItemT | PgcontextError]:
    validated: list[ItemT | PgcontextError] = []
    for item in items:
        try:
            validated.append(kind.model_validate(item, context=limits))
        except ValidationError as error:
            validated.append(InvalidArgument("; ".join(describe_faults(error))))
    return validated


def _raise_first(items: Sequence[Any]) -> None:
    for index, item in enumerate(items):
        if isinstance(item, PgcontextError):
            raise AtIndex(index, item)


def _batch_result(verb: str, outcomes: Sequence[WriteOutcome | PgcontextError]) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    for index, outcome in enumerate(outcomes):
        error = outcome if isinstance(outcome, PgcontextError) else outcome.error
        if error is not None:
            results.append({"index": index, "success": False, "error": error.batch_message})
        elif isinstance(outcome, WriteOutcome):
            results.append({"index": index, "success": True, "context_id": outcome.entry_id})
    succeeded = sum(result["success"] for result in results)
    return {
        "success": succeeded == len(results),
        "total": len(results),
        "succeeded": succeeded,
        "failed": len(results) - succeeded,
        "results": results,
        "message": f"{verb} {succeeded} of {len(results)}",
    }


def _merge(items: Sequence[Any], written: Sequence[WriteOutcome]) -> list[WriteOutcome | PgcontextError]:
    """The outcomes of a batch: faults stay in their places, the others were written in order."""
    rest = iter(written)
    return [item if isinstance(item, PgcontextError) else next(rest) for item in items]


async def _store_context_batch(context: ToolContext, request: StoreContextBatch) -> dict[str, Any]:
    items = await _validate_items(context, StoreContext, request.entries, request.atomic)
    entries = await new_entries(context, [item for item in items if isinstance(item, StoreContext)])
    written = await context.store.store_entries(context.caller, entries, request.atomic) if entries else []
    return _batch_result("Stored", _merge(items, written))


async def _update_context_batch(context: ToolContext, request: UpdateContextBatch) -> dict[str, Any]:
    items = await _validate_items(context, UpdateContext, request.updates, request.atomic)
    changes = await _changes(context, items)
    if request.atomic:
        _raise_first(changes)
    valid = await with_chunks(context, [change for change in changes if isinstance(change, EntryChange)])
    written = await context.store.update_entries(context.caller, valid, request.atomic) if valid else []
    return _batch_result("Updated", _merge(changes, written))


async def _changes(
    context: ToolContext, items: Sequence[UpdateContext | PgcontextError]
) -> list[EntryChange | PgcontextError]:
    """Each update as a change to one entry, computed from the entry's present version."""
    updates = [item for item in items if isinstance(item, UpdateContext)]
    ids = iter(await resolve_each(context, [update.context_id for update in updates]))
    found = [item if isinstance(item, PgcontextError) else next(ids) for item in items]
    wanted = {
        entry_id: None
        for item, entry_id in zip(items, found, strict=True)
        if isinstance(item, UpdateContext) and isinstance(entry_id, str) and needs_version(item)
    }
    rights = await context.store.get_entry_rights(context.caller, list(wanted)) if wanted else []
    versions = {right.entry_id: right.version for right in rights}
    changes: list[EntryChange | PgcontextError] = []
    for item, entry_id in zip(items, found, strict=True):
        if isinstance(item, PgcontextError):
            changes.append(item)
        elif isinstance(entry_id, PgcontextError):
            changes.append(entry_id)
        else:
            version = versions.get(entry_id) if needs_version(item) else None
            changes.append(entry_change(item, entry_id, version))
    return changes


async def _delete_context_batch(context: ToolContext, request: DeleteContextBatch) -> dict[str, Any]:
    ids = None if request.context_ids is None else await resolve_ids(context, request.context_ids)
    days = None if request.older_than_days is None else min(request.older_than_days, MAX_DAYS)
    count = await context.store.delete_entries(context.caller, ids, request.thread_ids, request.source, days)
    return {
        "success": True,
        "deleted_count": count,
        "criteria_used": request.criteria(),
        "message": deletion_message(count),
    }


STORE_CONTEXT_BATCH = Tool(
    name="store_context_batch",
    description="Store up to 100 entries in one call; each takes what store_context takes.",
    request=StoreContextBatch,
    response=BatchResult,
    handle=_store_context_batch,
    writes=True,
)
UPDATE_CONTEXT_BATCH = Tool(
    name="update_context_batch",
    description="Change up to 100 entries in one call; each update takes what update_context takes.",
    request=UpdateContextBatch,
    response=BatchResult,
    handle=_update_context_batch,
    writes=True,
    is_destructive=True,
    is_idempotent=True,
)
DELETE_CONTEXT_BATCH = Tool(
    name="delete_context_batch",
    description=(
        "Delete for good those of your own entries that meet all the criteria given. "
        "source or older_than_days needs another criterion beside it."
    ),
    request=DeleteContextBatch,
    response=DeletedBatch,
    handle=_delete_context_batch,
    writes=True,
    is_destructive=True,
    is_idempotent=True,
)
