"""Searches by words use the index of words on 50,000 entries, as the server's role, whoever asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support.acting import Connection, acting_as, nested_plans, nodes, rows, watch_plans
from support.postgres import PostgresServer

pytestmark = pytest.mark.slow

SEED = """
insert into entry (
    id, created_at, updated_at, version, thread_id, source, content_type, visibility, owner, readers, writers,
    tags, content_hash, metadata, text_content
)
select
    overlay(md5(n::text) placing lpad(to_hex(1700000000000 + n), 12, '0') || '7' from 1 for 13)::uuid,
    timestamptz '2025-01-01' + make_interval(secs => n),
    timestamptz '2025-01-01' + make_interval(secs => n),
    1, 'thread ' || n % 500, 'agent', 'text', 'private', 'owner',
    array['owner:owner', 'group:everybody'] || case when n % 1000 = 7 then '{user:narrow}'::text[] else '{}' end,
    array['owner:owner'], '{}', '', '{}', 'text ' || n
from generate_series(1, 50000) as n
"""
# every chunk has a common word, one in ten a word of some use, few have any other; one in a hundred is of a long
# text
SEED_CHUNKS = """
insert into chunk (entry_id, chunk_index, begin_offset, end_offset, is_part, word_count, words)
select
    id, 0, 0, length(text_content), n % 100 = 0, 20,
    to_tsvector(
        'simple', 'common ' || case when n % 10 = 3 then 'useful ' else '' end || 'rare' || n % 5000
        || ' filler' || n % 700 || repeat(' padding', 14)
    )
from entry
cross join lateral (select split_part(text_content, ' ', 2)::integer as n) as number
"""

EVERYBODY = ("wide", ("everybody",))
NARROW = ("narrow", ())
NOBODY = ("nobody in particular", ())


@pytest.fixture(scope="module")
def seeded(postgres: PostgresServer, database: Callable[[], str]) -> Iterator[Connection]:
    """A superuser's connection, for only a superuser may watch plans; the requests run as the server's role."""
    with psycopg.connect(postgres.database(database()), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        connection.execute("alter table entry disable trigger user")
        connection.execute(SEED)
        connection.execute(SEED_CHUNKS)
        connection.execute("alter table entry enable trigger user")
        connection.execute("vacuum analyze entry, chunk")
        watch_plans(connection)
        yield connection


def _word(text: str) -> dict[str, Any]:
    return {"word": text}


RARE = _word("rare77")
COMMON = _word("common")
BOTH = {"all": [_word("useful"), _word("filler3")]}
ANY = {"any": [_word("common"), _word("useful"), _word("padding")]}
PHRASE = {"phrase": "common rare77"}
PREFIX = {"prefix": "rare77"}


def _plans(
    seeded: Connection,
    caller: tuple[str, tuple[str, ...]],
    query: dict[str, Any],
    filter: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The plans of the queries that the search itself runs, which know their constants."""
    with acting_as(seeded, *caller):
        assert rows(seeded, "select current_user") == [("pgcontext_server",)]
        seeded.execute("discard plans")
        statement = "select * from rank_words(%s::jsonb, %s::jsonb, 100)"
        plans = nested_plans(seeded, statement, json.dumps(query), json.dumps(filter or {}))
    return [plan for plan in plans if "frequency_1" in json.dumps(plan)]


def _indexes(plans: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in nodes(plans) if "Index Name" in node}


def _scanned_whole(plans: list[dict[str, Any]]) -> set[str]:
    return {node["Relation Name"] for node in nodes(plans) if node["Node Type"] == "Seq Scan"}


def _chunks_read(plans: list[dict[str, Any]]) -> float:
    return max(
        node["Actual Rows"] * node["Actual Loops"] for node in nodes(plans) if node.get("Relation Name") == "chunk"
    )


@pytest.mark.parametrize("query", [RARE, BOTH, PHRASE, PREFIX], ids=["word", "both", "phrase", "prefix"])
def test_words_are_looked_up_in_their_index(seeded: Connection, query: dict[str, Any]) -> None:
    plans = _plans(seeded, EVERYBODY, query)
    assert "chunk_words_idx" in _indexes(plans)
    assert not _scanned_whole(plans)
    assert _chunks_read(plans) < 200


@pytest.mark.parametrize("query", [COMMON, ANY], ids=["common", "any"])
def test_of_common_words_only_the_newest_thousand_chunks_are_ranked(
    seeded: Connection, query: dict[str, Any]
) -> None:
    plans = _plans(seeded, EVERYBODY, query)
    assert not _scanned_whole(plans)
    assert _chunks_read(plans) <= 1100


@pytest.mark.parametrize("query", [COMMON, ANY, BOTH], ids=["common", "any", "both"])
def test_who_may_read_little_waits_for_little(seeded: Connection, query: dict[str, Any]) -> None:
    plans = _plans(seeded, NARROW, query)
    assert "entry_readers_idx" in _indexes(plans) or _chunks_read(plans) < 200
    assert not _scanned_whole(plans)
    assert _chunks_read(plans) < 200


def test_who_may_read_little_finds_all_of_it(seeded: Connection) -> None:
    with acting_as(seeded, *NARROW):
        ((count,),) = rows(seeded, "select count(*) from rank_words(%s::jsonb)", json.dumps(COMMON))
    assert count == 50
    with acting_as(seeded, *NOBODY):
        assert rows(seeded, "select count(*) from rank_words(%s::jsonb)", json.dumps(COMMON)) == [(0,)]


def test_a_thread_narrows_before_the_words_do(seeded: Connection) -> None:
    plans = _plans(seeded, EVERYBODY, COMMON, {"thread_id": "thread 77"})
    assert not _scanned_whole(plans)
    assert _chunks_read(plans) <= 100


def test_long_texts_are_looked_up_in_an_index_of_their_own(seeded: Connection) -> None:
    assert "chunk_part_words_idx" in _indexes(_plans(seeded, EVERYBODY, BOTH))


def test_what_the_plan_shows_is_what_runs(seeded: Connection) -> None:
    with acting_as(seeded, *EVERYBODY):
        ((plan,),) = rows(seeded, "select explain_words(%s::jsonb)", json.dumps(RARE))
    assert "chunk_words_idx" in plan
    assert "Seq Scan" not in plan
