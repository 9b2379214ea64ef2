"""The store in a SQLite file: every method runs the function of the same name in a thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Concatenate, Literal, ParamSpec, TypeVar

import apsw

from pgcontext.errors import Busy, StartRefused
from pgcontext.principal import Principal
from pgcontext.resources import resource_folder
from pgcontext.storage.migrations import apply_pending
from pgcontext.storage.sqlite import access, filters, navigation, search, sharing, sync
from pgcontext.storage.sqlite import entries as entry_functions
from pgcontext.storage.sqlite.access import Session
from pgcontext.storage.sqlite.chunks import backfill_chunks, has_stale_words, note_language, renew_words
from pgcontext.storage.sqlite.connection import Database
from pgcontext.storage.sqlite.vector_index import VectorIndex
from pgcontext.storage.values import (
    AccessPolicy,
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
    IndexSyncMode,
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
    WordRanking,
    WriteOutcome,
)
from pgcontext.text.query import QueryNode

P = ParamSpec("P")
T = TypeVar("T")

_BACKFILL_BATCH = 200


class SqliteStore:
    """`Store` in one SQLite file, or in memory for the path ":memory:".

    `indexed_fields` maps metadata fields to their types; `index_sync_mode` says what happens when the file's
    indexes differ from them.
    """

    backend: Literal["sqlite"] = "sqlite"

    def __init__(
        self,
        path: str | os.PathLike[str],
        policy: AccessPolicy,
        *,
        indexed_fields: Mapping[str, str] | None = None,
        index_sync_mode: IndexSyncMode = "additive",
        language: str = "english",
        word_ranking: WordRanking = "idf",
        readers: int = 2,
        busy_timeout_s: float = 30.0,
    ) -> None:
        self._policy = policy
        self._indexed_fields = dict(indexed_fields or {})
        self._index_sync_mode = index_sync_mode
        self._language = language
        self._word_ranking = word_ranking
        self._vectors = VectorIndex()
        self._database = Database(path, readers, busy_timeout_s)

    async def open(self) -> None:
        try:
            await self._database.open()
            await self._database.write(self._provision)
            await self._backfill()
        except BaseException as error:
            await self._database.close()
            if isinstance(error, Busy):
                raise StartRefused("Another process keeps the database file locked") from error
            raise

    def _provision(self, connection: apsw.Connection) -> None:
        apply_pending(connection, resource_folder("migrations") / "sqlite")
        report = filters.sync_metadata_indexes(connection, self._indexed_fields, self._index_sync_mode)
        if report and self._index_sync_mode == "strict":
            raise StartRefused(
                "METADATA_INDEX_SYNC_MODE=strict and the indexes differ from METADATA_INDEXED_FIELDS: "
                + "; ".join(f"index on metadata field {field}: {action}" for field, action in report)
            )

    async def _backfill(self) -> None:
        """Give chunks to the entries that have none, and words to those with words of another language.

        A few at a time, so that nobody waits long for a turn.
        """
        steps = [backfill_chunks]
        if await self._database.write(partial(has_stale_words, language=self._language)):
            steps.insert(0, renew_words)
        for step in steps:
            last: int | None = 0
            while last is not None:
                work = partial(step, language=self._language, after=last, limit=_BACKFILL_BATCH)
                last = await self._database.write(work)
        await self._database.write(partial(note_language, language=self._language))

    async def close(self) -> None:
        await self._database.close()

    def connection_metrics(self) -> ConnectionMetrics:
        size, in_use, waiting = self._database.figures()
        return ConnectionMetrics(self.backend, size=size, in_use=in_use, waiting=waiting, limit=size)

    # entries

    async def store_entries(
        self, caller: Principal, entries: Sequence[NewEntry], atomic: bool
    ) -> list[WriteOutcome]:
        return await self._write(caller, entry_functions.store_entries, entries, atomic)

    async def update_entries(
        self, caller: Principal, changes: Sequence[EntryChange], atomic: bool
    ) -> list[WriteOutcome]:
        return await self._write(caller, entry_functions.update_entries, changes, atomic)

    async def delete_entries(
        self,
        caller: Principal,
        entry_ids: Sequence[str] | None,
        thread_ids: Sequence[str] | None,
        source: Source | None,
        older_than_days: int | None,
    ) -> int:
        return await self._write(
            caller, entry_functions.delete_entries, entry_ids, thread_ids, source, older_than_days
        )

    async def get_entries(self, caller: Principal, entry_ids: Sequence[str]) -> list[Entry]:
        return await self._read(caller, entry_functions.get_entries, entry_ids)

    async def get_entry_rights(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryRights]:
        return await self._read(caller, access.get_entry_rights, entry_ids)

    async def list_images(self, caller: Principal, entry_ids: Sequence[str]) -> list[StoredImage]:
        return await self._read(caller, entry_functions.list_images, entry_ids)

    async def list_threads(self, caller: Principal, limit: int | None, offset: int) -> list[Thread]:
        return await self._read(caller, entry_functions.list_threads, limit, offset)

    async def get_statistics(self, caller: Principal) -> Statistics:
        return await self._read(caller, entry_functions.get_statistics)

    # search

    async def search_entries(
        self, caller: Principal, filter: EntryFilter, limit: int, offset: int, text_length: int
    ) -> list[Entry]:
        return await self._read(caller, search.search_entries, filter, limit, offset, text_length)

    async def explain_search(self, caller: Principal, filter: EntryFilter, limit: int, offset: int) -> str:
        return await self._read(caller, search.explain_search, filter, limit, offset)

    async def rank_words(
        self, caller: Principal, query: QueryNode, filter: EntryFilter, limit: int
    ) -> list[RankedMatch]:
        return await self._read(caller, search.rank_words, query, filter, limit)

    async def explain_words(self, caller: Principal, query: QueryNode, filter: EntryFilter, limit: int) -> str:
        return await self._read(caller, search.explain_words, query, filter, limit)

    async def rank_vectors(
        self, caller: Principal, vector: bytes, filter: EntryFilter, limit: int
    ) -> list[RankedMatch]:
        return await self._read(caller, search.rank_vectors, vector, filter, limit)

    async def explain_vectors(self, caller: Principal, vector: bytes, filter: EntryFilter, limit: int) -> str:
        return await self._read(caller, search.explain_vectors, vector, filter, limit)

    async def preview_entries(self, caller: Principal, entry_ids: Sequence[str], text_length: int) -> list[Entry]:
        return await self._read(caller, search.preview_entries, entry_ids, text_length)

    async def read_passages(
        self, caller: Principal, entry_ids: Sequence[str], chunk_indexes: Sequence[int]
    ) -> list[Passage]:
        return await self._read(caller, search.read_passages, entry_ids, chunk_indexes)

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
        return await self._read(caller, search.rank_hybrid, query, vector, filter, method, rrf_k, leg_limit, limit)

    # navigation

    async def resolve_prefixes(self, caller: Principal, prefixes: Sequence[str]) -> list[PrefixMatch]:
        return await self._read(caller, navigation.resolve_prefixes, prefixes)

    async def list_candidates(
        self,
        caller: Principal,
        filter: EntryFilter,
        needles: Sequence[str],
        limit: int,
        created_before: str | None,
        id_before: str | None,
    ) -> list[Candidate]:
        return await self._read(
            caller, navigation.list_candidates, filter, needles, limit, created_before, id_before
        )

    async def read_texts(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryText]:
        return await self._read(caller, navigation.read_texts, entry_ids)

    async def read_span(
        self,
        caller: Principal,
        entry_id: str,
        start_char: int | None,
        end_char: int | None,
        start_line: int | None,
        end_line: int | None,
    ) -> TextSpan:
        return await self._read(caller, navigation.read_span, entry_id, start_char, end_char, start_line, end_line)

    # sync

    async def plan_sync(
        self,
        caller: Principal,
        thread_id: str,
        manifest: Sequence[ManifestItem],
        source_id_after: str | None,
        source_id_through: str | None,
    ) -> SyncPlan:
        return await self._read(caller, sync.plan_sync, thread_id, manifest, source_id_after, source_id_through)

    async def list_ingest_state(
        self,
        caller: Principal,
        thread_id: str,
        limit: int,
        after_source_id: str | None,
        after_entry_id: str | None,
    ) -> list[IngestState]:
        return await self._read(caller, sync.list_ingest_state, thread_id, limit, after_source_id, after_entry_id)

    # sharing

    async def share_entry(
        self,
        caller: Principal,
        entry_id: str,
        principal_type: PrincipalType,
        principal_id: str,
        permission: Permission,
    ) -> bool:
        return await self._write(caller, sharing.share_entry, entry_id, principal_type, principal_id, permission)

    async def unshare_entry(
        self,
        caller: Principal,
        entry_id: str,
        principal_type: PrincipalType,
        principal_id: str,
        permission: Permission,
    ) -> Unshared:
        return await self._write(caller, sharing.unshare_entry, entry_id, principal_type, principal_id, permission)

    async def list_grants(self, caller: Principal, entry_id: str) -> list[Grant]:
        return await self._read(caller, sharing.list_grants, entry_id)

    # one call

    async def _read(
        self,
        caller: Principal,
        function: Callable[Concatenate[Session, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        return await self._database.read(
            lambda connection: function(self._session(connection, caller), *arguments, **options)
        )

    async def _write(
        self,
        caller: Principal,
        function: Callable[Concatenate[Session, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        return await self._database.write(
            lambda connection: function(self._session(connection, caller), *arguments, **options)
        )

    def _session(self, connection: apsw.Connection, caller: Principal) -> Session:
        return Session.begin(connection, caller, self._policy, self._vectors, self._language, self._word_ranking)
