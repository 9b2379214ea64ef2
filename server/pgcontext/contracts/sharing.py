"""Granting and withdrawing access to an entry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from pgcontext.contracts.faults import WholeMessage
from pgcontext.contracts.fields import MAX_IDENTIFIER_LENGTH, ContextId, Request
from pgcontext.text.characters import check_characters

PrincipalTypeName = Literal["user", "group"]
PermissionName = Literal["read", "write"]


def _check_principal_id(value: str) -> str:
    check_characters(value)
    if not value.strip():
        raise WholeMessage("principal_id cannot be empty or whitespace")
    if value != value.strip():
        raise WholeMessage("principal_id cannot have leading or trailing whitespace")
    if len(value) > MAX_IDENTIFIER_LENGTH:
        raise WholeMessage(f"principal_id exceeds {MAX_IDENTIFIER_LENGTH} characters")
    return value


PrincipalId = Annotated[
    str,
    AfterValidator(_check_principal_id),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_IDENTIFIER_LENGTH}),
]


class ShareContext(Request):
    """Arguments of share_context and unshare_context."""

    context_id: ContextId
    principal_type: PrincipalTypeName
    principal_id: PrincipalId = Field(description="User or group id, matched exactly")
    permission: PermissionName = Field(description="write includes read")


class UnshareContext(ShareContext):
    """Arguments of unshare_context."""

    permission: PermissionName


class ListContextGrants(Request):
    """Arguments of list_context_grants."""

    context_id: ContextId


class Shared(BaseModel):
    """Result of share_context; `created` is false when the grant was there already."""

    success: bool
    context_id: str
    principal_type: PrincipalTypeName
    principal_id: str
    permission: PermissionName
    created: bool
    message: str


class UnsharedOutput(BaseModel):
    """Result of unshare_context; `removed` is false when there was no such grant."""

    success: bool
    context_id: str
    principal_type: PrincipalTypeName
    principal_id: str
    permission: PermissionName
    removed: bool
    remaining_permissions: list[PermissionName]
    message: str


class GrantOutput(BaseModel):
    """One grant of an entry."""

    principal_type: PrincipalTypeName
    principal_id: str
    permission: PermissionName
    granted_by: str
    created_at: str


class GrantList(BaseModel):
    """Result of list_context_grants."""

    context_id: str
    grants: list[GrantOutput]
    count: int
