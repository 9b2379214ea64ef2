"""share_context, unshare_context, list_context_grants."""

from __future__ import annotations

from typing import Any

from pgcontext.contracts.sharing import (
    GrantList,
    ListContextGrants,
    ShareContext,
    Shared,
    UnshareContext,
    UnsharedOutput,
)
from pgcontext.errors import ShareWithAnonymous
from pgcontext.storage.values import Grant
from pgcontext.text.dates import format_seconds
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.identifiers import resolve_id


async def _share_context(context: ToolContext, request: ShareContext) -> dict[str, Any]:
    anonymous = context.settings.access_control_anonymous_principal
    if request.principal_type == "user" and request.principal_id == anonymous:
        raise ShareWithAnonymous(request.context_id)
    entry_id = await resolve_id(context, request.context_id)
    created = await context.store.share_entry(
        context.caller, entry_id, request.principal_type, request.principal_id, request.permission
    )
    grantee = f"{request.principal_type} {request.principal_id}"
    return _grant_result(request, entry_id) | {
        "created": created,
        "message": f"Granted {request.permission} on context entry {entry_id} to {grantee}"
        if created
        else f"{grantee} already holds {request.permission} on context entry {entry_id}",
    }


async def _unshare_context(context: ToolContext, request: UnshareContext) -> dict[str, Any]:
    entry_id = await resolve_id(context, request.context_id)
    unshared = await context.store.unshare_entry(
        context.caller, entry_id, request.principal_type, request.principal_id, request.permission
    )
    grantee = f"{request.principal_type} {request.principal_id}"
    return _grant_result(request, entry_id) | {
        "removed": unshared.removed,
        "remaining_permissions": unshared.remaining_permissions,
        "message": f"Removed {request.permission} on context entry {entry_id} from {grantee}"
        if unshared.removed
        else f"No {request.permission} grant on context entry {entry_id} for {grantee}",
    }


def _grant_result(request: ShareContext, entry_id: str) -> dict[str, Any]:
    return {
        "success": True,
        "context_id": entry_id,
        "principal_type": request.principal_type,
        "principal_id": request.principal_id,
        "permission": request.permission,
    }


def _render_grant(grant: Grant) -> dict[str, Any]:
    return {
        "principal_type": grant.principal_type,
        "principal_id": grant.principal_id,
        "permission": grant.permission,
        "granted_by": grant.granted_by,
        "created_at": format_seconds(grant.created_at),
    }


async def _list_context_grants(context: ToolContext, request: ListContextGrants) -> dict[str, Any]:
    entry_id = await resolve_id(context, request.context_id)
    grants = await context.store.list_grants(context.caller, entry_id)
    return {"context_id": entry_id, "grants": [_render_grant(grant) for grant in grants], "count": len(grants)}


SHARE_CONTEXT = Tool(
    name="share_context",
    description="Let one user or group read or also edit an entry you own.",
    request=ShareContext,
    response=Shared,
    handle=_share_context,
    writes=True,
    is_idempotent=True,
)
UNSHARE_CONTEXT = Tool(
    name="unshare_context",
    description="Take back exactly one grant on an entry you own.",
    request=UnshareContext,
    response=UnsharedOutput,
    handle=_unshare_context,
    writes=True,
    is_destructive=True,
    is_idempotent=True,
)
LIST_CONTEXT_GRANTS = Tool(
    name="list_context_grants",
    description="See who holds which grant on an entry you own.",
    request=ListContextGrants,
    response=GrantList,
    handle=_list_context_grants,
)
