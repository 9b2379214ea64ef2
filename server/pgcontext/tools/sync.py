"""plan_context_sync and list_ingest_state."""

from __future__ import annotations

from typing import Any

from pgcontext.contracts.sync import IngestStatePage, ListIngestState, PlanContextSync, SyncPlanOutput
from pgcontext.errors import InvalidArgument
from pgcontext.storage.values import IngestState, ManifestItem, SyncPlan
from pgcontext.text.cursors import make_cursor, parse_cursor
from pgcontext.tools.base import Tool, ToolContext


async def _plan_context_sync(context: ToolContext, request: PlanContextSync) -> dict[str, Any]:
    manifest = [ManifestItem(item.source_id, item.text_digest, item.meta_digest) for item in request.manifest]
    plan = await context.store.plan_sync(
        context.caller, request.thread_id, manifest, request.source_id_after, request.source_id_through
    )
    return {"thread_id": request.thread_id} | _render_plan(plan)


def _render_plan(plan: SyncPlan) -> dict[str, Any]:
    return {
        "creates": plan.creates,
        "updates": [
            {"index": update.index, "context_id": update.entry_id, "change": update.change}
            for update in plan.updates
        ],
        "deletes": [
            {"context_id": delete.entry_id, "source_id": delete.source_id, "reason": delete.reason}
            for delete in plan.deletes
        ],
        "deletes_total": plan.deletes_total,
        "unchanged_count": plan.unchanged_count,
        "kept_count": plan.kept_count,
        "foreign_count": plan.foreign_count,
    }


async def _list_ingest_state(context: ToolContext, request: ListIngestState) -> dict[str, Any]:
    # one more than the page, to know whether there is another
    found = await context.store.list_ingest_state(
        context.caller, request.thread_id, request.limit + 1, *_place(request)
    )
    page = found[: request.limit]
    last = page[-1] if len(found) > request.limit else None
    return {
        "thread_id": request.thread_id,
        "entries": [_render_state(state) for state in page],
        "count": len(page),
        "next_cursor": last and make_cursor(request.thread_id, last.source_id, last.entry_id),
    }


def _place(request: ListIngestState) -> tuple[str | None, str | None]:
    if request.cursor is None:
        return None, None
    try:
        return parse_cursor(request.thread_id, request.cursor)
    except ValueError as error:
        raise InvalidArgument(str(error)) from None


def _render_state(state: IngestState) -> dict[str, Any]:
    return {
        "context_id": state.entry_id,
        "source_id": state.source_id,
        "text_digest": state.text_digest,
        "meta_digest": state.meta_digest,
        "synced_at": state.synced_at,
    }


PLAN_CONTEXT_SYNC = Tool(
    name="plan_context_sync",
    description=(
        "Compare a list of source documents with your entries of a corpus: what to create, update and delete. "
        "Writes nothing; apply it with the batch tools, storing with deduplicate false."
    ),
    request=PlanContextSync,
    response=SyncPlanOutput,
    handle=_plan_context_sync,
    feature="context_sync",
)
LIST_INGEST_STATE = Tool(
    name="list_ingest_state",
    description="Page through your synced documents of a corpus, by source id, with their digests.",
    request=ListIngestState,
    response=IngestStatePage,
    handle=_list_ingest_state,
    feature="context_sync",
)
