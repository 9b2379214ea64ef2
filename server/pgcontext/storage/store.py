"""The storage as the rest of the server sees it: one method per stored function.

Both backends implement `Store`. A method's name and arguments are those of the SQL function of the same name
(`p_` dropped, `caller` added); a test compares them. Refusals are the exceptions of `pgcontext.errors`.

Ids are canonical: 32 lower-case hex digits, UUID version 7. Times are text as results show them, in UTC with
microseconds: 2025-11-29T10:00:00.000000Z.

Every method sees readable entries only, except where it says otherwise: an entry is readable when its owner is
the caller, when it is public, or when any grant names the caller or one of the caller's groups; changeable when
the caller is the owner or holds a write grant. Everything that counts, orders or pages does so over readable
entries alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pgcontext.principal import Principal
from pgcontext.storage.values import (
    Candidate,
    ConnectionMetrics,
    Entry,
    EntryChange,
    EntryFilter,
    EntryRights,
    EntryText,
    FusionMethod,
    Grant,
    HybridRanking,
    IngestState,
    ManifestItem,
    NewEntry,
    Passage,
    Permission,
    PrefixMatch,
    PrincipalType,
    RankedMatch,
    Source,
    Statistics,
    StoredImage,
    SyncPlan,
    TextSpan,
    Thread,
    Unshared,
    WriteOutcome,
)
from pgcontext.text.query import QueryNode


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

    async def rank_words(
        self, caller: Principal, query: QueryNode, filter: EntryFilter, limit: int
    ) -> list[RankedMatch]:
        """The readable entries that pass the filter and match the query, best first; see docs/search.md."""

    async def explain_words(self, caller: Principal, query: QueryNode, filter: EntryFilter, limit: int) -> str:
        """The engine's own plan for `rank_words`, as text."""

    async def rank_vectors(
        self, caller: Principal, vector: bytes, filter: EntryFilter, limit: int
    ) -> list[RankedMatch]:
        """The readable entries that pass the filter and lie nearest to a vector (float16, little endian).

        An entry counts with its nearest chunk; entries without embeddings are not found.
        """

    async def explain_vectors(self, caller: Principal, vector: bytes, filter: EntryFilter, limit: int) -> str:
        """The engine's own plan for `rank_vectors`, as text."""

    async def rank_hybrid(
        self,
        caller: Principal,
        query: QueryNode | None,
        vector: bytes | None,
        filter: EntryFilter,
        method: FusionMethod,
        rrf_k: int,
        leg_limit: int,
        limit: int,
    ) -> HybridRanking:
        """The first `leg_limit` of both legs in one order, best first; None leaves a leg out."""

    async def preview_entries(self, caller: Principal, entry_ids: Sequence[str], text_length: int) -> list[Entry]:
        """The readable ones among these ids, in the order given, each once; texts cut as in `search_entries`."""

    async def read_passages(
        self, caller: Principal, entry_ids: Sequence[str], chunk_indexes: Sequence[int]
    ) -> list[Passage]:
        """The texts of chunks of readable entries, in the order given; the two lists go together."""

    # navigation

    async def resolve_prefixes(self, caller: Principal, prefixes: Sequence[str]) -> list[PrefixMatch]:
        """What each id prefix (8 to 31 lower-case hex digits) stands for among readable entries."""

    async def list_candidates(
        self,
        caller: Principal,
        filter: EntryFilter,
        needles: Sequence[str],
        limit: int,
        created_before: str | None,
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
