"""The store on PostgreSQL: every method is one call of the stored function of the same name.

A call is one transaction and one round trip: begin, say who is calling, call, commit, sent together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Literal, TypeVar

import anyio
import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from pgcontext.errors import Busy, Interrupted, StartRefused, error_from_sqlstate
from pgcontext.principal import Principal
from pgcontext.storage.postgres.adapters import Halfvec, adapt
from pgcontext.storage.postgres.documents import (
    filter_document,
    manifest_document,
    query_document,
    write_arguments,
)
from pgcontext.storage.postgres.installer import NOT_A_MEMBER, ensure_current
from pgcontext.storage.postgres.options import PostgresOptions
from pgcontext.storage.postgres.statements import ARGUMENT_TYPES, statement
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
    PlannedDelete,
    PlannedUpdate,
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

Row = tuple[Any, ...]
T = TypeVar("T")


class PostgresStore:
    """`Store` on PostgreSQL."""

    backend: Literal["postgresql"] = "postgresql"

    def __init__(self, options: PostgresOptions) -> None:
        self._options = options
        self._pool: AsyncConnectionPool[AsyncConnection[Row]] | None = None
        self._statements = {
            function: statement(options.schema, function, types) for function, types in ARGUMENT_TYPES.items()
        }
        self._halfvec_oid = 0
        self._begin_tail = (options.role, int(options.command_timeout * 1000))

    async def open(self) -> None:
        await anyio.to_thread.run_sync(ensure_current, self._options)
        pool = AsyncConnectionPool(
            self._options.conninfo,
            min_size=self._options.pool_min,
            max_size=self._options.pool_max,
            timeout=self._options.pool_timeout,
            configure=_configure,
            open=False,
            name="pgcontext",
        )
        await pool.open()
        self._pool = pool
        async with self._connection() as connection:
            self._halfvec_oid = await _find_halfvec(connection)
        if self._options.row_level_security:
            await self._refuse_inert_policies()

    async def close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.close()

    def connection_metrics(self) -> ConnectionMetrics:
        figures = self._pool.get_stats() if self._pool is not None else {}
        size = figures.get("pool_size", 0)
        return ConnectionMetrics(
            backend=self.backend,
            size=size,
            in_use=size - figures.get("pool_available", 0),
            waiting=figures.get("requests_waiting", 0),
            limit=self._options.pool_max,
        )

    # entries

    async def store_entries(
        self, caller: Principal, entries: Sequence[NewEntry], atomic: bool
    ) -> list[WriteOutcome]:
        documents, *vectors = await write_arguments(entries, self._halfvec_oid)
        return await self._write(caller, "store_entries", (documents, atomic, *vectors), _outcome)

    async def update_entries(
        self, caller: Principal, changes: Sequence[EntryChange], atomic: bool
    ) -> list[WriteOutcome]:
        documents, *vectors = await write_arguments(changes, self._halfvec_oid)
        return await self._write(caller, "update_entries", (documents, atomic, *vectors), _outcome)

    async def delete_entries(
        self,
        caller: Principal,
        entry_ids: Sequence[str] | None,
        thread_ids: Sequence[str] | None,
        source: Source | None,
        older_than_days: int | None,
    ) -> int:
        criteria = (_list(entry_ids), _list(thread_ids), source, older_than_days)
        (count,) = await self._write(caller, "delete_entries", criteria, int)
        return count

    async def get_entries(self, caller: Principal, entry_ids: Sequence[str]) -> list[Entry]:
        return await self._read(caller, "get_entries", (_list(entry_ids),), Entry)

    async def get_entry_rights(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryRights]:
        return await self._read(caller, "get_entry_rights", (_list(entry_ids),), EntryRights)

    async def list_images(self, caller: Principal, entry_ids: Sequence[str]) -> list[StoredImage]:
        return await self._read(caller, "list_images", (_list(entry_ids),), StoredImage)

    async def list_threads(self, caller: Principal, limit: int | None, offset: int) -> list[Thread]:
        return await self._read(caller, "list_threads", (limit, offset), Thread)

    async def get_statistics(self, caller: Principal) -> Statistics:
        (statistics,) = await self._read(caller, "get_statistics", (), Statistics)
        return statistics

    # search

    async def search_entries(
        self, caller: Principal, filter: EntryFilter, limit: int, offset: int, text_length: int
    ) -> list[Entry]:
        arguments = (filter_document(filter), limit, offset, text_length)
        return await self._read(caller, "search_entries", arguments, Entry)

    async def explain_search(self, caller: Principal, filter: EntryFilter, limit: int, offset: int) -> str:
        (plan,) = await self._read(caller, "explain_search", (filter_document(filter), limit, offset), str)
        return plan

    async def rank_words(
        self, caller: Principal, query: QueryNode, filter: EntryFilter, limit: int
    ) -> list[RankedMatch]:
        arguments = (query_document(query), filter_document(filter), limit)
        return await self._read(caller, "rank_words", arguments, RankedMatch)

    async def explain_words(self, caller: Principal, query: QueryNode, filter: EntryFilter, limit: int) -> str:
        arguments = (query_document(query), filter_document(filter), limit)
        (plan,) = await self._read(caller, "explain_words", arguments, str)
        return plan

    async def rank_vectors(
        self, caller: Principal, vector: bytes, filter: EntryFilter, limit: int
    ) -> list[RankedMatch]:
        arguments = (Halfvec(vector), filter_document(filter), limit)
        return await self._read(caller, "rank_vectors", arguments, RankedMatch)

    async def explain_vectors(self, caller: Principal, vector: bytes, filter: EntryFilter, limit: int) -> str:
        arguments = (Halfvec(vector), filter_document(filter), limit)
        (plan,) = await self._read(caller, "explain_vectors", arguments, str)
        return plan

    async def preview_entries(self, caller: Principal, entry_ids: Sequence[str], text_length: int) -> list[Entry]:
        return await self._read(caller, "preview_entries", (_list(entry_ids), text_length), Entry)

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
        arguments = (
            None if query is None else query_document(query),
            None if vector is None else Halfvec(vector),
            filter_document(filter),
            method,
            rrf_k,
            leg_limit,
            limit,
        )
        rows = await self._read(caller, "rank_hybrid", arguments, lambda *row: row)
        if not rows:
            return HybridRanking([])
        # what is counted stands in every row
        *_, fts_count, semantic_count, common_count = rows[0]
        return HybridRanking([RankedMatch(*row[:-3]) for row in rows], fts_count, semantic_count, common_count)

    async def read_passages(
        self, caller: Principal, entry_ids: Sequence[str], chunk_indexes: Sequence[int]
    ) -> list[Passage]:
        return await self._read(caller, "read_passages", (_list(entry_ids), list(chunk_indexes)), Passage)

    # navigation

    async def resolve_prefixes(self, caller: Principal, prefixes: Sequence[str]) -> list[PrefixMatch]:
        return await self._read(caller, "resolve_prefixes", (list(prefixes),), PrefixMatch)

    async def list_candidates(
        self,
        caller: Principal,
        filter: EntryFilter,
        needles: Sequence[str],
        limit: int,
        created_before: str | None,
        id_before: str | None,
    ) -> list[Candidate]:
        arguments = (filter_document(filter), list(needles), limit, created_before, id_before)
        return await self._read(caller, "list_candidates", arguments, Candidate)

    async def read_texts(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryText]:
        return await self._read(caller, "read_texts", (_list(entry_ids),), EntryText)

    async def read_span(
        self,
        caller: Principal,
        entry_id: str,
        start_char: int | None,
        end_char: int | None,
        start_line: int | None,
        end_line: int | None,
    ) -> TextSpan:
        arguments = (entry_id, start_char, end_char, start_line, end_line)
        (span,) = await self._read(caller, "read_span", arguments, TextSpan)
        return span

    # sync

    async def plan_sync(
        self,
        caller: Principal,
        thread_id: str,
        manifest: Sequence[ManifestItem],
        source_id_after: str | None,
        source_id_through: str | None,
    ) -> SyncPlan:
        arguments = (thread_id, manifest_document(manifest), source_id_after, source_id_through)
        (plan,) = await self._read(caller, "plan_sync", arguments, _plan)
        return plan

    async def list_ingest_state(
        self,
        caller: Principal,
        thread_id: str,
        limit: int,
        after_source_id: str | None,
        after_entry_id: str | None,
    ) -> list[IngestState]:
        arguments = (thread_id, limit, after_source_id, after_entry_id)
        return await self._read(caller, "list_ingest_state", arguments, IngestState)

    # sharing

    async def share_entry(
        self,
        caller: Principal,
        entry_id: str,
        principal_type: PrincipalType,
        principal_id: str,
        permission: Permission,
    ) -> bool:
        arguments = (entry_id, principal_type, principal_id, permission)
        (created,) = await self._write(caller, "share_entry", arguments, bool)
        return created

    async def unshare_entry(
        self,
        caller: Principal,
        entry_id: str,
        principal_type: PrincipalType,
        principal_id: str,
        permission: Permission,
    ) -> Unshared:
        arguments = (entry_id, principal_type, principal_id, permission)
        (unshared,) = await self._write(caller, "unshare_entry", arguments, Unshared)
        return unshared

    async def list_grants(self, caller: Principal, entry_id: str) -> list[Grant]:
        return await self._read(caller, "list_grants", (entry_id,), Grant)

    # one call

    async def _read(self, caller: Principal, function: str, arguments: Row, make: Callable[..., T]) -> list[T]:
        """Call a reading function; a connection that proves dead is replaced once."""
        try:
            return await self._call(caller, function, arguments, make)
        except _ConnectionLost:
            return await self._write(caller, function, arguments, make)

    async def _write(self, caller: Principal, function: str, arguments: Row, make: Callable[..., T]) -> list[T]:
        try:
            return await self._call(caller, function, arguments, make)
        except _ConnectionLost as error:
            raise Interrupted from error

    async def _call(self, caller: Principal, function: str, arguments: Row, make: Callable[..., T]) -> list[T]:
        """Run a stored function as the caller, in one transaction; `make` builds a result from a row."""
        identity = (caller.id, list(caller.groups), list(caller.roles), *self._begin_tail)
        try:
            async with self._connection() as connection:
                # one round trip and, without a word of it, one transaction: it ends where the pipeline does
                async with connection.pipeline():
                    await connection.execute(self._statements["begin_request"], identity)
                    cursor = await connection.execute(self._statements[function], arguments, binary=True)
                return [make(*row) for row in await cursor.fetchall()]
        except PoolTimeout as error:
            raise Busy from error
        except psycopg.Error as error:
            raise _translate(error) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[Row]]:
        """A connection out of the pool, which replaces those that the server has closed meanwhile."""
        if self._pool is None:
            raise RuntimeError("The store is not open")
        pool = self._pool
        while True:
            connection = await pool.getconn()
            try:
                if await _stands(connection):
                    yield connection
                    return
                await connection.close()
            except BaseException as error:
                # psycopg believes prepared whatever it sent, also where the pipeline broke off before the server
                # came to it; after a refusal the server has seen it all
                if not _is_refusal(error):
                    await connection.close()
                raise
            finally:
                # also when the caller goes away at this very moment
                await asyncio.shield(pool.putconn(connection))

    async def _refuse_inert_policies(self) -> None:
        """Refuse a deployment whose requests would run past row-level security."""
        try:
            faults = await self._read(Principal("-"), "list_wall_faults", (), str)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(NOT_A_MEMBER) from error
        if faults:
            raise StartRefused("Row-level security would protect nothing: " + "; ".join(faults))


class _ConnectionLost(Exception):
    """The connection broke while the call was under way."""


def _translate(error: psycopg.Error) -> Exception:
    """The exception that callers of the store see for an error of the database."""
    if error.sqlstate in _BUSY_STATES:
        return Busy()
    if error.sqlstate is None or error.sqlstate[:2] in ("08", "57"):
        return _ConnectionLost()
    diagnostics = error.diag
    detail = json.loads(diagnostics.message_detail or "{}") if error.sqlstate[:2] == "PC" else {}
    return error_from_sqlstate(error.sqlstate, diagnostics.message_primary or "", detail) or error


# statement_timeout, lock_timeout, deadlock, serialization failure, too many connections
_BUSY_STATES = frozenset({"57014", "55P03", "40P01", "40001", "53300"})


def _is_refusal(error: BaseException) -> bool:
    """Whether a stored function raised one of the project's own errors."""
    return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith("PC")


async def _stands(connection: AsyncConnection[Row]) -> bool:
    """Whether an idle connection can be used.

    A server says next to nothing to a connection that waits, except when it closes it, so only a connection with
    something to read is tried with a query.
    """
    try:
        with DefaultSelector() as selector:
            selector.register(connection.fileno(), EVENT_READ)
            if not selector.select(0):
                return True
        await connection.execute("")
    except psycopg.OperationalError:
        return False
    return True


async def _find_halfvec(connection: AsyncConnection[Row]) -> int:
    """The OID of pgvector's `halfvec`, which is another one in every database."""
    cursor = await connection.execute(
        "select pg_type.oid from pg_catalog.pg_type "
        "inner join pg_catalog.pg_extension on pg_extension.extnamespace = pg_type.typnamespace "
        "where pg_extension.extname = 'vector' and pg_type.typname = 'halfvec'"
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def _configure(connection: AsyncConnection[Row]) -> None:
    adapt(connection)
    # a transaction is begun and ended by the statements of the pipeline
    await connection.set_autocommit(True)


def _plan(
    creates: list[int], updates: list[dict[str, Any]], deletes: list[dict[str, Any]], *counts: int
) -> SyncPlan:
    planned_updates = [PlannedUpdate(**update) for update in updates]
    return SyncPlan(creates, planned_updates, [PlannedDelete(**delete) for delete in deletes], *counts)


def _list(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _outcome(
    index: int, entry_id: str | None, is_new: bool, error_code: str | None, detail: dict[str, Any] | None
) -> WriteOutcome:
    if error_code is None:
        return WriteOutcome(index, entry_id, is_new)
    return WriteOutcome(index, None, error=error_from_sqlstate(error_code, "", detail or {}))
