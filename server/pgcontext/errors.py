"""Everything a caller can do wrong, as one exception per kind.

Each class carries the SQLSTATE that the PostgreSQL functions raise for it. The database reports the
particulars (ids, prefixes) as a JSON object in DETAIL, and `error_from_sqlstate` turns the two into the same
exception that the SQLite backend raises directly. The words a caller reads are `str(error)`, so both backends
say the same.

Single-entry tools and batch tools of the contract word two of the refusals differently; `batch_message` is the
batch form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class PgcontextError(Exception):
    """Base of every refusal; `str()` is the text the caller reads."""

    sqlstate: ClassVar[str] = ""

    @property
    def batch_message(self) -> str:
        """The wording inside a batch result."""
        return str(self)


class _EntryError(PgcontextError):
    """A refusal that concerns one entry."""

    template: ClassVar[str] = ""
    batch_template: ClassVar[str] = ""

    def __init__(self, entry_id: str) -> None:
        super().__init__(self.template.format(id=entry_id))
        self.entry_id = entry_id

    @property
    def batch_message(self) -> str:
        return (self.batch_template or self.template).format(id=self.entry_id)


class EntryNotFound(_EntryError):
    """No entry has the id, or the caller may not read it: the two look the same."""

    sqlstate = "PC010"
    template = "Context entry with ID {id} not found"
    batch_template = "Context entry {id} not found"


class ModifyRefused(_EntryError):
    """The caller may read the entry but not change it."""

    sqlstate = "PC011"
    template = "Not authorized to modify context entry with ID {id}"
    batch_template = "Not authorized to modify context entry {id}"


class VisibilityRefused(_EntryError):
    """A write grantee tried to publish or hide an entry of another owner."""

    sqlstate = "PC012"
    template = "Only the owner may change the visibility of context {id}"


class VersionConflict(_EntryError):
    """The entry changed between reading it and writing it back."""

    sqlstate = "PC020"
    template = (
        "Context entry with ID {id} was changed by someone else meanwhile; nothing was written. "
        "Read it again and repeat the update"
    )


class NotOwner(PgcontextError):
    """A grant operation by someone who may read the entry but does not own it."""

    sqlstate = "PC014"
    phrases: ClassVar[Mapping[str, str]] = {
        "share": "share",
        "unshare": "unshare",
        "list_grants": "list the grants of",
    }

    def __init__(self, entry_id: str, action: str) -> None:
        super().__init__(f"Not authorized to {self.phrases[action]} context entry with ID {entry_id}")
        self.entry_id = entry_id
        self.action = action


class ShareWithOwner(_EntryError):
    """A user grant that names the owner."""

    sqlstate = "PC015"
    template = "Cannot share context entry with ID {id} with its owner"


class ShareWithAnonymous(_EntryError):
    """A user grant that names the anonymous principal."""

    sqlstate = "PC016"
    template = (
        "Cannot share context entry with ID {id} with the anonymous principal; "
        "set its visibility to 'public' to publish it"
    )


class DeleteRefused(PgcontextError):
    """Named entries that the caller may read but does not own; nothing was deleted."""

    sqlstate = "PC013"

    def __init__(self, entry_ids: list[str]) -> None:
        super().__init__(f"Not authorized to delete context entries: {', '.join(entry_ids)}")
        self.entry_ids = entry_ids


class PublishRefused(PgcontextError):
    """Publishing needs a role that the caller does not hold."""

    sqlstate = "PC003"

    def __init__(self, role: str) -> None:
        super().__init__(f"Publishing an entry as public requires the role '{role}'")
        self.role = role


class ReadOnlyPrincipal(PgcontextError):
    """The anonymous principal tried to write."""

    sqlstate = "PC002"

    def __init__(self, tool: str) -> None:
        super().__init__(f"The anonymous principal is read-only: {tool} is not permitted")
        self.tool = tool


class NoPrincipal(PgcontextError):
    """A request reached the storage without a caller."""

    sqlstate = "PC001"

    def __init__(self) -> None:
        super().__init__("The request names no principal")


class PrefixNotFound(PgcontextError):
    """No readable entry has an id that begins so."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"No context entry matches prefix '{prefix}'")
        self.prefix = prefix


class PrefixAmbiguous(PgcontextError):
    """More than one readable entry has an id that begins so."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"Ambiguous prefix '{prefix}' matches multiple entries")
        self.prefix = prefix


class InvalidArgument(PgcontextError):
    """An argument that validation let through and the storage cannot take."""

    sqlstate = "PC030"


class MetadataTooLarge(PgcontextError):
    """A patch or a merge would make an entry's metadata larger than metadata may be."""

    sqlstate = "PC032"

    def __init__(self) -> None:
        super().__init__("The entry's metadata would become too large: at most 1000000 characters of JSON")


class WrongChunks(PgcontextError):
    """Chunks that are not in order, leave out a part of the text or go beyond it."""

    sqlstate = "PC033"

    def __init__(self) -> None:
        super().__init__("The chunks are not in order or do not cover the text")


class WrongIsolation(PgcontextError):
    """The database gives the server transactions of another isolation level than the writing functions need."""

    sqlstate = "PC031"

    def __init__(self) -> None:
        super().__init__(
            "The database's default_transaction_isolation must be 'read committed' for this server to write"
        )


class Busy(PgcontextError):
    """No connection, or no turn to write, within the bounded wait."""

    sqlstate = "PC040"

    def __init__(self) -> None:
        super().__init__("The storage is busy; nothing was written. Try again in a moment")


class Interrupted(PgcontextError):
    """The connection to the database broke during a write."""

    def __init__(self) -> None:
        super().__init__(
            "The connection to the database broke; whether the change was stored is unknown. "
            "Read before you repeat it"
        )


class StartRefused(Exception):
    """The deployment is not safe or not complete, and the server must not start; the text says why."""


class AtIndex(PgcontextError):
    """The refusal that made an atomic batch fail, and the place of its item."""

    def __init__(self, index: int, cause: PgcontextError) -> None:
        super().__init__(f"{cause.batch_message} at index {index}")
        self.index = index
        self.cause = cause


def error_from_sqlstate(sqlstate: str, message: str, detail: Mapping[str, Any]) -> PgcontextError | None:
    """The exception for an SQLSTATE of the project's class, or None for any other state.

    `detail` is the JSON object that the SQL functions put into DETAIL; a key `index` marks the item of an
    atomic batch.
    """
    error = _build(sqlstate, message, detail)
    if error is not None and detail.get("index") is not None:
        return AtIndex(detail["index"], error)
    return error


def _build(sqlstate: str, message: str, detail: Mapping[str, Any]) -> PgcontextError | None:
    for kind in (
        EntryNotFound,
        ModifyRefused,
        VisibilityRefused,
        VersionConflict,
        ShareWithOwner,
        ShareWithAnonymous,
    ):
        if sqlstate == kind.sqlstate:
            return kind(detail["entry_id"])
    match sqlstate:
        case NotOwner.sqlstate:
            return NotOwner(detail["entry_id"], detail["action"])
        case DeleteRefused.sqlstate:
            return DeleteRefused(detail["entry_ids"])
        case PublishRefused.sqlstate:
            return PublishRefused(detail["role"])
        case ReadOnlyPrincipal.sqlstate:
            return ReadOnlyPrincipal(detail.get("action", "writing"))
        case NoPrincipal.sqlstate:
            return NoPrincipal()
        case MetadataTooLarge.sqlstate:
            return MetadataTooLarge()
        case WrongChunks.sqlstate:
            return WrongChunks()
        case WrongIsolation.sqlstate:
            return WrongIsolation()
        case InvalidArgument.sqlstate:
            return InvalidArgument(message)
    return None
