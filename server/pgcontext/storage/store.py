"""The storage as the rest of the server sees it: one method per stored function.

Both backends implement `Store`. A method's name and arguments are those of the SQL function of the same name
(`p_` dropped, `caller` added); a test compares them. Refusals are the exceptions of `pgcontext.errors`.

Ids are canonical: 32 lower-case hex digits, UUID version 7. Times are text as results show
them, in UTC with microseconds: 2025-11-29T10:00:00.000000Z.
Every method sees readable entries only, except where it says otherwise: an entry is readable when its owner is
the caller, when it is public, or when any grant names the caller or one of the caller's groups; changeable when
the caller is the owner or holds a write grant. Everything that counts, orders or pages does so over readable
entries alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from pgcontext.errors import PgcontextError
from pgcontext.principal import Principal

Source = Literal["user", "agent"]
ContentType = Literal["text", "multimodal"]
Visibility = Literal["private", "public"]
PrincipalType = Literal["user", "group"]
Permission = Literal["read", "write"]
IndexSyncMode = Literal["additive", "strict", "auto", "warn"]
"""What happens when the indexes on metadata fields differ from the ones wanted."""


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """What the operator decides about access for the whole deployment.

    PostgreSQL keeps it in the table `setting`, where the SQL functions and the policies read it; SQLite is
    handed it when the store opens.
    """

    default_visibility: Visibility = "private"
    publish_role: str | None = None
    anonymous_principal: str | None = None
    author_group_grants: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """One image of an entry; `data` is standard base64, `metadata` the caller's own string or None."""

    data: str
    mime_type: str
    metadata: str | None = None


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to store. Text, tags and metadata are already normalised and validated."""

    thread_id: str
    source: Source
    text: str
    metadata: Mapping[str, Any] | None = None
    tags: tuple[str, ...] | None = None
    images: tuple[Image, ...] | None = None
    visibility: Visibility | None = None
    deduplicate: bool = True


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A change to one entry; None leaves a part as it is, an empty tuple or mapping empties it.

    `expected_version` is the version the change was computed from: when the stored one differs, the change is
    refused with `VersionConflict`. What earlier items of the same call have changed does not count. None skips
    the comparison (a metadata patch applies to any version).
    """

    entry_id: str
    expected_version: int | None = None
    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_patch: Mapping[str, Any] | None = None
    tags: tuple[str, ...] | None = None
    images: tuple[Image, ...] | None = None
    visibility: Visibility | None = None


@dataclass(frozen=True, slots=True)
class MetadataCondition:
    """One metadata filter; the meaning of the operators is in section 2 of docs/filters.md."""

    key: str
    operator: str
    value: Any = None
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a search looks at; all parts must hold, tags match any of the list.

    `created_from` and `created_to` are inclusive.
    """

    thread_id: str | None = None
    source: Source | None = None
    tags: tuple[str, ...] = ()
    content_type: ContentType | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    metadata: tuple[MetadataCondition, ...] = ()

    def count(self) -> int:
        """How many filters this applies, each metadata condition being one."""
        scalars = (
            self.thread_id,
            self.source,
            self.tags or None,
            self.content_type,
            self.created_from,
            self.created_to,
        )
        return sum(part is not None for part in scalars) + len(self.metadata)


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored entry as one caller sees it; `tags` are in code-point order."""

    id: str
    thread_id: str
    source: Source
    content_type: ContentType
    text_content: str
    is_text_content_truncated: bool
    metadata: dict[str, Any]
    tags: list[str]
    summary: str | None
    visibility: Visibility
    is_owner: bool
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class EntryRights:
    """What the caller may do to an entry it may read, and the entry's present version."""

    entry_id: str
    version: int
    is_owner: bool
    is_writable: bool


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image as stored."""

    entry_id: str
    position: int
    data: bytes
    mime_type: str
    metadata: str | None


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What became of one item of a write; `error` is None when it was written.

    `is_new` is False for an update and for a store that merged into an existing entry.
    """

    index: int
    entry_id: str | None
    is_new: bool = False
    error: PgcontextError | None = None


@dataclass(frozen=True, slots=True)
class PrefixMatch:
    """What an id prefix stands for: one id, or none (`entry_id` None), or several (`is_ambiguous`)."""

    prefix: str
    entry_id: str | None
    is_ambiguous: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that a pattern may match in; `octets` is the size of its text in UTF-8."""

    entry_id: str
    octets: int
    visibility: Visibility
    is_owner: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EntryText:
    """The whole text of an entry."""

    entry_id: str
    text_content: str


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of an entry's text: code points from 0, `end_char` exclusive; lines from 1, both inclusive."""

    start_char: int
    end_char: int
    start_line: int
    end_line: int
    text_content: str
    visibility: Visibility
    is_owner: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, in figures over the entries the caller may read."""

    thread_id: str
    entry_count: int
    source_types: int
    multimodal_count: int
    first_entry: str
    last_entry: str
    last_id: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures over the entries the caller may read, and the size of the whole database."""

    total_entries: int
    by_source: dict[str, int]
    by_content_type: dict[str, int]
    total_threads: int
    total_images: int
    unique_tags: int
    database_bytes: int | None


@dataclass(frozen=True, slots=True)
class Unshared:
    """Whether a grant was removed, and what the same grantee still holds, in code-point order."""

    removed: bool
    remaining_permissions: list[Permission]


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant of an entry."""

    principal_type: PrincipalType
    principal_id: str
    permission: Permission
    granted_by: str
    created_at: str


@dataclass(frozen=True, slots=True)
class ManifestItem:
    """A source document as a sync finds it; both digests in lower case, or None for a source to be kept."""

    source_id: str
    text_digest: str | None = None
    meta_digest: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedUpdate:
    """An entry that differs from the manifest item of this index."""

    index: int
    entry_id: str
    change: Literal["text", "metadata", "both"]


@dataclass(frozen=True, slots=True)
class PlannedDelete:
    """An entry that a sync removes."""

    entry_id: str
    source_id: str
    reason: Literal["absent", "duplicate"]


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a manifest changes in the caller's managed entries of a range; `creates` are indices of its items."""

    creates: list[int]
    updates: list[PlannedUpdate]
    deletes: list[PlannedDelete]
    deletes_total: int
    unchanged_count: int
    kept_count: int
    foreign_count: int


@dataclass(frozen=True, slots=True)
class IngestState:
    """A managed entry: the hash of its text, and what its block says."""

    entry_id: str
    source_id: str
    text_digest: str
    meta_digest: str
    synced_at: str


@dataclass(frozen=True, slots=True)
class ConnectionMetrics:
    """The connections this process holds to its storage."""

    backend: str
    size: int
    in_use: int
    waiting: int
    limit: int
    extra: dict[str, Any] = field(default_factory=dict)


class Store(Protocol):
    """Everything the tools need from a backend."""

    @property
    def backend(self) -> Literal["postgresql", "sqlite"]:
        """Which engine this is."""

    async def open(self) -> None:
        """Connect, provision what this login may provision, and refuse a deployment that is not safe."""

    async def close(self) -> None:
        """Release every connection; idempotent."""

    def connection_metrics(self) -> ConnectionMetrics:
        """The state of the connection pool of this process."""

    # entries

    async def store_entries(
        self, caller: Principal, entries: Sequence[NewEntry], atomic: bool
    ) -> list[WriteOutcome]:
        """Store entries in order; one outcome each, in order.

        An entry with `deduplicate` merges into the caller's own latest entry of the same thread and source
        (latest among the readable ones, by created_at then id) when that entry's text is identical and no
        readable entry of the other source came after it; earlier items of the same call count. A merge unites
        the tags, lays the given metadata keys over the stored ones, replaces the images where given, leaves
        owner and visibility, and changes version and updated_at only when something differs. Otherwise a new
        entry of the caller is inserted: `visibility` None takes the deployment's default; with
        author_group_grants every group of the caller is granted read.

        Concurrent identical stores make one entry. Publishing needs the publish role, if one is set
        (`PublishRefused`); the anonymous principal may not write (`ReadOnlyPrincipal`). With `atomic`, the
        first refusal is raised as `AtIndex` and nothing is stored; otherwise it is that item's outcome.
        """

    async def update_entries(
        self, caller: Principal, changes: Sequence[EntryChange], atomic: bool
    ) -> list[WriteOutcome]:
        """Change entries in order; one outcome each, in order. Refusals as for `store_entries`.

        Per item, in this order: not readable -> `EntryNotFound`; not changeable -> `ModifyRefused`;
        visibility given by anyone but the owner -> `VisibilityRefused`; stored version differs from
        `expected_version` -> `VersionConflict`; publishing without the role -> `PublishRefused`. A success
        raises version by one, sets updated_at, recomputes content_hash and content_type, and clears the
        summary when the text changed. `metadata_patch` is an RFC 7396 merge patch on the stored metadata.
        """

    async def delete_entries(
        self,
        caller: Principal,
        entry_ids: Sequence[str] | None,
        thread_ids: Sequence[str] | None,
        source: Source | None,
        older_than_days: int | None,
    ) -> int:
        """Delete the caller's own entries that meet every criterion that is not None; how many were deleted.

        A readable entry of another owner that `entry_ids` names and that meets the other criteria refuses the
        whole call (`DeleteRefused`, ids in the order given); without `entry_ids` such entries are passed
        over. Unreadable entries are never matched. With no criterion at all nothing is deleted.
        """

    async def get_entries(self, caller: Principal, entry_ids: Sequence[str]) -> list[Entry]:
        """The readable ones among these ids with their full text, in the order given, each once."""

    async def get_entry_rights(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryRights]:
        """Version and rights of the readable ones among these ids, in the order given, each once."""

    async def list_images(self, caller: Principal, entry_ids: Sequence[str]) -> list[StoredImage]:
        """The images of the readable ones among these ids, by entry as given, then by position."""

    async def list_threads(self, caller: Principal, limit: int | None, offset: int) -> list[Thread]:
        """Threads with at least one readable entry, latest activity first.

        Order: last_entry descending, then last_id descending, where last_id is the id of the latest entry by
        created_at then id. `limit` None returns all and ignores `offset`.
        """

    async def get_statistics(self, caller: Principal) -> Statistics:
        """Counts over readable entries, and the size of the whole database."""

    # search

    async def search_entries(
        self, caller: Principal, filter: EntryFilter, limit: int, offset: int, text_length: int
    ) -> list[Entry]:
        """One page of the readable entries that pass the filter, newest first (created_at, then id).

        Texts are cut after `text_length` code points.
        """

    async def explain_search(self, caller: Principal, filter: EntryFilter, limit: int, offset: int) -> str:
        """The engine's own plan for `search_entries`, as text."""

    # navigation

    async def resolve_prefixes(self, caller: Principal, prefixes: Sequence[str]) -> list[PrefixMatch]:
        """What each id prefix (8 to 31 lower-case hex digits) stands for among readable entries."""

    async def list_candidates(
        self,
        caller: Principal,
        filter: EntryFilter,
        needles: Sequence[str],
        limit: int,
        created_before: datetime | None,
        id_before: str | None,
    ) -> list[Candidate]:
        """Readable entries that pass the filter and hold a needle, newest first (created_at, then id).

        A needle is a string folded by `pgcontext.text.needles.fold`, of three characters or more, and a text
        holds it when the text folded in the same way does. Without needles every entry does. With
        `created_before` and `id_before` only entries that come after that place in the order.
        """

    async def read_texts(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryText]:
        """The texts of the readable ones among these ids, in the order given, each once."""

    async def read_span(
        self,
        caller: Principal,
        entry_id: str,
        start_char: int | None,
        end_char: int | None,
        start_line: int | None,
        end_line: int | None,
    ) -> TextSpan:
        """A part of a text, by characters, or by lines where one of these is given; None is the first or the last.

        What lies outside of the text is cut off. A line ends with `\\n`, `\\r\\n` or `\\r`; a span by lines leaves
        the last one's end out. `end_line` is the line of the last character. Raises `EntryNotFound`.
        """

    # sync

    async def plan_sync(
        self,
        caller: Principal,
        thread_id: str,
        manifest: Sequence[ManifestItem],
        source_id_after: str | None,
        source_id_through: str | None,
    ) -> SyncPlan:
        """What the manifest changes in the caller's own managed entries of a thread.

        A managed entry has a valid block `metadata.ingest` whose scope is its thread (docs/sync.md). Looks at
        sources after the first bound and up to the second, None being none; the manifest names each source at
        most once and none outside. Of several entries of one source the one stays whose text, then whose
        meta_digest is the item's, then the newest. Lists at most 100 deletes, by source id and then entry id in
        code-point order, and counts all; of other owners' managed entries in the range it counts the readable
        ones.
        """

    async def list_ingest_state(
        self,
        caller: Principal,
        thread_id: str,
        limit: int,
        after_source_id: str | None,
        after_entry_id: str | None,
    ) -> list[IngestState]:
        """The caller's own managed entries of a thread after a position, by source id and then entry id."""

    # sharing

    async def share_entry(
        self,
        caller: Principal,
        entry_id: str,
        principal_type: PrincipalType,
        principal_id: str,
        permission: Permission,
    ) -> bool:
        """Grant a permission on an own entry; False when the entry holds that grant already.

        Not readable -> `EntryNotFound`; not owned -> `NotOwner('share')`; a user grant that names the owner
        -> `ShareWithOwner`. Leaves version and updated_at alone.
        """

    async def unshare_entry(
        self,
        caller: Principal,
        entry_id: str,
        principal_type: PrincipalType,
        principal_id: str,
        permission: Permission,
    ) -> Unshared:
        """Remove exactly one grant from an own entry; refusals as for `share_entry` (`NotOwner('unshare')`)."""

    async def list_grants(self, caller: Principal, entry_id: str) -> list[Grant]:
        """Every grant of an own entry, by type, id and permission in code-point order.

        Refusals as for `share_entry` (`NotOwner('list_grants')`).
        """
