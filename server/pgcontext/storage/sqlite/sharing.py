"""Grants on entries. Twin of `sql/sharing/`."""

from __future__ import annotations

from pgcontext.errors import EntryNotFound, NotOwner, ShareWithAnonymous, ShareWithOwner
from pgcontext.storage.sqlite.access import Session, ensure_may_write, get_entry_rights
from pgcontext.storage.sqlite.util import current_micros
from pgcontext.storage.values import Grant, Permission, PrincipalType, Unshared
from pgcontext.text.dates import format_timestamp


def share_entry(
    session: Session, entry_id: str, principal_type: PrincipalType, principal_id: str, permission: Permission
) -> bool:
    """See `Store.share_entry`."""
    ensure_may_write(session)
    ensure_owner(session, entry_id, "share")
    if principal_type == "user" and principal_id == session.caller.id:
        raise ShareWithOwner(entry_id)
    if principal_type == "user" and principal_id == session.policy.anonymous_principal:
        raise ShareWithAnonymous(entry_id)
    session.execute(
        """
        insert into entry_grant
            (entry_id, principal_type, principal_id, permission, granted_by, created_at)
        values (:id, :type, :name, :permission, :principal, :now)
        on conflict do nothing
        """,
        id=entry_id,
        type=principal_type,
        name=principal_id,
        permission=permission,
        now=current_micros(),
    )
    return session.connection.changes() > 0


def unshare_entry(
    session: Session, entry_id: str, principal_type: PrincipalType, principal_id: str, permission: Permission
) -> Unshared:
    """See `Store.unshare_entry`."""
    ensure_may_write(session)
    ensure_owner(session, entry_id, "unshare")
    session.execute(
        """
        delete from entry_grant
        where
            entry_id = :id and principal_type = :type and principal_id = :name and permission = :permission
        """,
        id=entry_id,
        type=principal_type,
        name=principal_id,
        permission=permission,
    )
    is_removed = session.connection.changes() > 0
    remaining = session.rows(
        """
        select permission from entry_grant
        where entry_id = :id and principal_type = :type and principal_id = :name
        order by permission
        """,
        id=entry_id,
        type=principal_type,
        name=principal_id,
    )
    return Unshared(is_removed, [kept for (kept,) in remaining])


def list_grants(session: Session, entry_id: str) -> list[Grant]:
    """See `Store.list_grants`."""
    ensure_owner(session, entry_id, "list_grants")
    rows = session.rows(
        """
        select principal_type, principal_id, permission, granted_by, created_at from entry_grant
        where entry_id = :id
        order by principal_type, principal_id, permission
        """,
        id=entry_id,
    )
    return [
        Grant(grantee_type, grantee, permission, granted_by, format_timestamp(created_at))
        for grantee_type, grantee, permission, granted_by, created_at in rows
    ]


def ensure_owner(session: Session, entry_id: str, action: str) -> None:
    """Raises `EntryNotFound` for an entry that cannot be read, and `NotOwner` for one of another owner."""
    for rights in get_entry_rights(session, [entry_id]):
        if not rights.is_owner:
            raise NotOwner(entry_id, action)
        return
    raise EntryNotFound(entry_id)
