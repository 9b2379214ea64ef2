"""Planning a sync uses the index of corpora, as the server's role, and reads no row that it need not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support.acting import Connection, acting_as, nested_plans, nodes, rows, watch_plans
from support.postgres import PostgresServer

pytestmark = pytest.mark.slow

DOCUMENTS = 50_000
DIGEST = "0" * 64
# four owners with a corpus each in one thread, one of them public, and as many entries of other kinds
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
    'kb:handbook',
    'agent',
    'text',
    case when mod(n, 4) = 3 then 'public' else 'private' end,
    'owner ' || mod(n, 4),
    array['owner:owner ' || mod(n, 4)] || case when mod(n, 4) = 3 then '{*}'::text[] else '{}' end,
    array['owner:owner ' || mod(n, 4)],
    '{}',
    %(digest)s,
    case when n <= 4 * %(documents)s
        then jsonb_build_object('ingest', jsonb_build_object(
            'scope', 'kb:handbook', 'source_id', lpad((n / 4)::text, 7, '0'), 'meta_digest', %(digest)s::text,
            'synced_at', '2026-03-14T10:00:00Z'
        ))
        else '{"status": "open"}'
    end,
    'text ' || n
from generate_series(1, 5 * %(documents)s) as n
"""
MANIFEST = [{"source_id": f"{n:07}", "text_digest": DIGEST, "meta_digest": DIGEST} for n in range(10_001, 11_001)]


@pytest.fixture(scope="module")
def seeded(postgres: PostgresServer, database: Callable[[], str]) -> Iterator[Connection]:
    """A superuser's connection, for only a superuser may watch plans; the requests run as the server's role."""
    with psycopg.connect(postgres.database(database()), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        connection.execute("alter table entry disable trigger user")
        connection.execute(SEED, {"digest": DIGEST, "documents": DOCUMENTS})
        connection.execute("alter table entry enable trigger user")
        connection.execute("vacuum analyze entry")
        watch_plans(connection)
        yield connection


def _plans(seeded: Connection, owner: str, query: str, *parameters: Any) -> list[dict[str, Any]]:
    with acting_as(seeded, owner):
        assert rows(seeded, "select current_user") == [("pgcontext_server",)]
        seeded.execute("discard plans")
        return nested_plans(seeded, query, *parameters)


def _scans(plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The nodes that read the table of entries or an index of it."""
    return [
        node for node in nodes(plans) if str(node.get("Index Name", node.get("Relation Name"))).startswith("entry")
    ]


def _rows_read(scans: list[dict[str, Any]]) -> float:
    read = ("Actual Rows", "Rows Removed by Filter")
    return sum(sum(scan.get(name, 0) for name in read) * scan["Actual Loops"] for scan in scans)


PLAN = "select * from plan_sync('kb:handbook', %s::jsonb, %s, %s)"


def test_a_range_is_planned_from_the_index_and_reads_little_more_than_the_range(seeded: Connection) -> None:
    plans = _plans(seeded, "owner 1", PLAN, json.dumps(MANIFEST), "0010000", "0011000")
    scans = _scans(plans)
    assert {scan.get("Index Name", scan["Node Type"]) for scan in scans} == {"entry_corpus_idx"}
    assert _rows_read(scans) < 10 * len(MANIFEST)


def test_the_whole_corpus_is_counted_without_reading_its_rows(seeded: Connection) -> None:
    plans = _plans(seeded, "owner 1", PLAN, json.dumps(MANIFEST), None, None)
    scans = _scans(plans)
    (counting,) = [scan for scan in scans if _rows_read([scan]) >= DOCUMENTS and "Filter" not in scan]
    assert (counting["Node Type"], counting["Index Name"]) == ("Index Only Scan", "entry_corpus_idx")
    assert counting["Heap Fetches"] == 0


def test_a_page_of_the_state_is_read_from_the_index(seeded: Connection) -> None:
    query = "select * from list_ingest_state('kb:handbook', 101, %s, %s)"
    plans = _plans(seeded, "owner 1", query, "0040000", "01900000-abcd-7000-8000-000000000000")
    scans = _scans(plans)
    assert {scan.get("Index Name", scan["Node Type"]) for scan in scans} == {"entry_corpus_idx", "entry_pkey"}
    assert _rows_read(scans) <= 202
