"""Search by meaning on 50,000 vectors, as the server's role: the way that is taken, and how good the answer is."""

from __future__ import annotations

import json
import struct
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from support.acting import Connection, acting_as, nested_plans, nodes, rows, watch_plans
from support.postgres import PostgresServer
from support.vectors import DIMENSIONS, make_vector, make_vectors, nearest

pytestmark = pytest.mark.slow

ENTRIES = 50_000
PAGE = 20
# how many entries each group may read
GROUPS = {"one": 1, "five": 5, "fifty": 50, "half a percent": 250, "a tenth": 5_000, "everybody": ENTRIES}
SEED = """
insert into entry (
    id, created_at, updated_at, version, thread_id, source, content_type, visibility, owner, readers, writers,
    tags, content_hash, metadata, text_content
)
select
    overlay(md5(n::text) placing lpad(to_hex(1700000000000 + n), 12, '0') || '7' from 1 for 13)::uuid,
    timestamptz '2025-01-01' + make_interval(secs => n),
    timestamptz '2025-01-01' + make_interval(secs => n),
    1,
    'thread ' || n %% 1000,
    'user',
    'text',
    'private',
    'owner',
    array(select 'group:' || key from jsonb_each_text(%s) where n %% (50000 / value::integer) = 0),
    '{}',
    '{}',
    '',
    '{}',
    'text ' || n
from generate_series(1, 50000) as n
"""
CHUNKS = "insert into chunk select id, 0, 0, length(text_content), false, 2, '' from entry"
INDEX = """
create index chunk_embedding_idx on chunk_embedding
using hnsw (embedding halfvec_l2_ops) with (m = 16, ef_construction = 64)
"""


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float16]:
    return make_vectors(ENTRIES, 7)


@pytest.fixture(scope="module")
def seeded(
    postgres: PostgresServer, database: Callable[[], str], vectors: NDArray[np.float16]
) -> Iterator[Connection]:
    """A superuser's connection, for only a superuser may watch plans; the requests run as the server's role."""
    with psycopg.connect(postgres.database(database()), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext, public")
        connection.execute("set maintenance_work_mem to '256MB'")
        connection.execute("alter table entry disable trigger user")
        connection.execute(SEED, (json.dumps(GROUPS),))
        connection.execute("alter table entry enable trigger user")
        connection.execute(CHUNKS)
        connection.execute("drop index chunk_embedding_idx")
        _copy(connection, vectors)
        connection.execute(INDEX)
        connection.execute("vacuum analyze")
        watch_plans(connection)
        yield connection


def _copy(connection: Connection, vectors: NDArray[np.float16]) -> None:
    entry_ids = [entry_id for (entry_id,) in rows(connection, "select id from entry order by id")]
    statement = "copy chunk_embedding (entry_id, chunk_index, embedding) from stdin (format binary)"
    with connection.cursor().copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0))
        for entry_id, vector in zip(entry_ids, vectors.astype(">f2"), strict=True):
            key = struct.pack("!hi", 3, 16) + entry_id.bytes + struct.pack("!ii", 4, 0)
            head = struct.pack("!ihh", 4 + 2 * DIMENSIONS, DIMENSIONS, 0)
            copy.write(key + head + vector.tobytes())
        copy.write(struct.pack("!h", -1))


def _literal(vector: bytes) -> str:
    return json.dumps(np.frombuffer(vector, "<f2").astype(float).tolist())


FIND = "select entry_id from pgcontext.find_vector_matches(%s::public.halfvec, %s::jsonb, %s)"


def _found(seeded: Connection, group: str, vector: bytes, filter: dict[str, Any], limit: int) -> list[uuid.UUID]:
    with acting_as(seeded, "reader", (group,)):
        return [row[0] for row in rows(seeded, FIND, _literal(vector), json.dumps(filter), limit)]


def _row(entry_id: uuid.UUID) -> int:
    """The place of an entry's vector."""
    return int(entry_id.hex[:12], 16) - 1_700_000_000_000 - 1


def _recall(
    found: list[uuid.UUID], vectors: NDArray[np.float16], candidates: NDArray[np.intp], query: bytes
) -> float:
    exact = {int(candidates[row]) for row in nearest(vectors[candidates], query, len(found))}
    return len(exact & {_row(entry_id) for entry_id in found}) / len(exact)


@pytest.mark.parametrize("limit", [PAGE, 100])
@pytest.mark.parametrize("group", GROUPS)
def test_whatever_share_is_readable_the_page_is_full_and_the_nearest(
    seeded: Connection, vectors: NDArray[np.float16], group: str, limit: int
) -> None:
    candidates = np.flatnonzero(np.arange(1, ENTRIES + 1) % (ENTRIES // GROUPS[group]) == 0)
    recalls = []
    for seed in range(10):
        query = make_vector(seed)
        found = _found(seeded, group, query, {}, limit)
        assert len(found) == len(set(found)) == min(limit, GROUPS[group])
        recalls.append(_recall(found, vectors, candidates, query))
    assert sum(recalls) / len(recalls) >= 0.95


def test_a_thread_filter_gives_the_exact_answer(seeded: Connection, vectors: NDArray[np.float16]) -> None:
    candidates = np.flatnonzero(np.arange(1, ENTRIES + 1) % 1000 == 7)
    query = make_vector(5)
    found = _found(seeded, "everybody", query, {"thread_id": "thread 7"}, PAGE)
    exact = nearest(vectors[candidates], query, PAGE)
    assert [_row(entry_id) for entry_id in found] == [int(candidates[row]) for row in exact]


def _indexes(seeded: Connection, function: str, group: str, filter: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Which indexes a search uses, and which tables it scans whole."""
    query = f"select * from {function}(%s::public.halfvec, %s::jsonb, 100)"
    with acting_as(seeded, "reader", (group,)):
        assert rows(seeded, "select current_user") == [("pgcontext_server",)]
        seeded.execute("discard plans")
        plans = nested_plans(seeded, query, _literal(make_vector(5)), json.dumps(filter))
    used = [node for node in nodes(plans) if node.get("Actual Loops")]
    indexes = {node["Index Name"] for node in used if "Index Name" in node}
    return indexes, {node["Relation Name"] for node in used if node["Node Type"] == "Seq Scan"}


def test_among_many_readable_entries_the_vector_index_is_walked(seeded: Connection) -> None:
    indexes, scanned = _indexes(seeded, "rank_vectors", "everybody", {})
    assert {"chunk_embedding_idx", "entry_pkey", "chunk_pkey", "chunk_embedding_pkey"} <= indexes
    assert not scanned & {"entry", "chunk", "chunk_embedding"}


@pytest.mark.parametrize("group, filter", [("half a percent", {}), ("everybody", {"thread_id": "thread 7"})])
def test_few_candidates_are_compared_by_key(seeded: Connection, group: str, filter: dict[str, Any]) -> None:
    indexes, scanned = _indexes(seeded, "rank_vectors", group, filter)
    assert "chunk_embedding_idx" not in indexes
    assert "chunk_embedding_pkey" in indexes
    assert not scanned & {"entry", "chunk", "chunk_embedding"}


def test_the_explained_plan_is_the_one_that_runs(seeded: Connection) -> None:
    explain = "select explain_vectors(%s::public.halfvec, %s::jsonb, 100)"
    for filter, is_walked in (({}, True), ({"thread_id": "thread 7"}, False)):
        with acting_as(seeded, "reader", ("everybody",)):
            ((plan,),) = rows(seeded, explain, _literal(make_vector(5)), json.dumps(filter))
        assert ("chunk_embedding_idx" in plan) == is_walked
        assert len(plan) < 2000


def test_a_search_leaves_the_planner_as_it_was(seeded: Connection) -> None:
    with acting_as(seeded, "reader", ("everybody",)):
        rows(seeded, FIND, _literal(make_vector(5)), "{}", 10)
        assert rows(seeded, "select current_setting('enable_sort'), current_setting('enable_seqscan')") == [
            ("on", "on")
        ]


def test_entries_of_many_chunks_fill_the_page_too(seeded: Connection, vectors: NDArray[np.float16]) -> None:
    """The nearest hundreds of chunks all belong to one entry."""
    query = make_vector(99)
    with acting_as(seeded, "reader", ("everybody",)), seeded.transaction(force_rollback=True):
        seeded.execute("reset role")
        seeded.execute(
            "insert into chunk select entry_id, n, 0, 1, true, 1, '' "
            "from (select entry_id from chunk limit 1) as one cross join generate_series(1, 600) as n"
        )
        seeded.execute(
            "insert into chunk_embedding (entry_id, chunk_index, embedding) "
            "select entry_id, chunk_index, %s::public.halfvec from chunk where chunk_index > 0",
            (_literal(query),),
        )
        seeded.execute("set local role pgcontext_server")
        found = [row[0] for row in rows(seeded, FIND, _literal(query), "{}", PAGE)]
    assert len(found) == len(set(found)) == PAGE
    assert _recall(found[1:], vectors, np.arange(ENTRIES), query) >= 0.9
