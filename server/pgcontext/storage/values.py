"""What goes into the storage and comes out of it, the same for both backends.

Ids are canonical: 32 lower-case hex digits, UUID version 7. Times that go in are aware datetimes; times that come
out are text as results show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pgcontext.errors import PgcontextError

Source = Literal["user", "agent"]
ContentType = Literal["text", "multimodal"]
Visibility = Literal["private", "public"]
PrincipalType = Literal["user", "group"]
Permission = Literal["read", "write"]
FusionMethod = Literal["rrf", "convex"]
WordRanking = Literal["idf", "cover_density"]
"""How matches by words are ranked; docs/search.md explains both."""
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
class NewChunk:
    """A span of a text in code points, with what search by meaning needs; the chunks of a text cover all of it.

    `embedding` is the vector in float16, little endian; `token_codes` 16 bytes for each token. Both are None where
    there is no embedding (yet).
    """

    begin: int
    end: int
    embedding: bytes | None = None
    token_codes: bytes | None = None


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to store. Text, tags and metadata are already normalised and validated.

    Without `chunks` the backend cuts the text itself.
    """

    thread_id: str
    source: Source
    text: str
    metadata: Mapping[str, Any] | None = None
    tags: tuple[str, ...] | None = None
    images: tuple[Image, ...] | None = None
    visibility: Visibility | None = None
    deduplicate: bool = True
    chunks: tuple[NewChunk, ...] | None = None


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A change to one entry; None leaves a part as it is, an empty tuple or mapping empties it.

    `expected_version` is the version the change was computed from: when the stored one differs, the change is
    refused with `VersionConflict`. What earlier items of the same call have changed does not count. None skips
    the comparison (a metadata patch applies to any version). `chunks` are those of `text`.
    """

    entry_id: str
    expected_version: int | None = None
    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    metadata_patch: Mapping[str, Any] | None = None
    tags: tuple[str, ...] | None = None
    images: tuple[Image, ...] | None = None
    visibility: Visibility | None = None
    chunks: tuple[NewChunk, ...] | None = None


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
class RankedMatch:
    """An entry as a ranked search found it: the chunk that matches best, and how it matched.

    Scores of a leg that has not found the entry are None, except that `semantic_distance` is given for every
    chunk with an embedding where a vector was searched for. `previous_id` is the readable entry before this one
    in its thread, by creation.
    """

    entry_id: str
    chunk_index: int
    begin_offset: int
    end_offset: int
    token_codes: bytes | None
    previous_id: str | None
    fts_score: float | None = None
    fts_rank: int | None = None
    semantic_distance: float | None = None
    semantic_rank: int | None = None
    fused_score: float | None = None


@dataclass(frozen=True, slots=True)
class HybridRanking:
    """The fused order, best first, and how many entries each leg found, and both of them."""

    matches: list[RankedMatch]
    fts_count: int = 0
    semantic_count: int = 0
    common_count: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one chunk."""

    entry_id: str
    chunk_index: int
    text: str


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
    created_at: str


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
    """Figures over the entries the caller may read, and the sizes of the whole database and of all embeddings.

    An entry is indexed when it has chunks, and embedded when all of these have embeddings; the others are pending.
    """

    total_entries: int
    by_source: dict[str, int]
    by_content_type: dict[str, int]
    total_threads: int
    total_images: int
    unique_tags: int
    database_bytes: int | None
    indexed_entries: int
    embedded_entries: int
    embedding_bytes: int


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
