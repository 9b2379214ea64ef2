"""Chunks as somebody with a database login meets them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgcontext.errors import StartRefused
from pgcontext.storage.postgres.installer import is_current, provision
from pgcontext.storage.sqlite.chunks import split_text
from support.acting import Connection, acting_as, rows, store
from support.options import options_for
from support.postgres import LOGIN, OWNER, PostgresServer

PIECES = ["a", "word ", "\u00e9", "\U0001f600", "\n", " ", "x" * 800]
SPANS = "select chunk_index, begin_offset, end_offset, is_part from pgcontext.chunk where entry_id = %s order by 1"


@pytest.fixture(scope="module")
def name(postgres: PostgresServer, database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def server(postgres: PostgresServer, name: str) -> Iterator[Connection]:
    """A connection of the server's login."""
    with psycopg.connect(postgres.database(name, LOGIN), autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner(postgres: PostgresServer, name: str) -> Iterator[Connection]:
    """A connection of the tables' owner, whose work is undone in the end."""
    with psycopg.connect(postgres.database(name, OWNER), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        with connection.transaction(force_rollback=True):
            yield connection


def test_a_dbas_insert_and_update_are_cut_into_chunks(owner: Connection) -> None:
    text = "word " * 1000
    ((entry_id,),) = rows(
        owner,
        "insert into entry (thread_id, source, content_type, visibility, owner, tags, metadata, text_content) "
        "values ('t', 'user', 'text', 'private', 'dba', '{}', '{}', %s) returning id",
        text,
    )
    expected = [(index, span.begin, span.end, True) for index, span in enumerate(split_text(text))]
    assert rows(owner, SPANS, entry_id) == expected
    owner.execute("update entry set text_content = 'short' where id = %s", (entry_id,))
    assert rows(owner, SPANS, entry_id) == [(0, 0, 5, False)]
    owner.execute("update entry set tags = '{tag}' where id = %s", (entry_id,))
    assert rows(owner, SPANS, entry_id) == [(0, 0, 5, False)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(
        st.tuples(st.sampled_from(PIECES), st.integers(1, 900)),
        min_size=1,
        max_size=8,
    )
)
def test_both_backends_cut_a_text_alike(owner: Connection, pieces: list[tuple[str, int]]) -> None:
    text = "".join(piece * times for piece, times in pieces)
    assert rows(owner, "select begin_offset, end_offset from split_text(%s)", text) == [
        (span.begin, span.end) for span in split_text(text)
    ]
    spans = json.dumps([[span.begin, span.end] for span in split_text(text)])
    assert [content for (content,) in rows(owner, "select content from cut_text(%s, %s::jsonb)", text, spans)] == [
        text[span.begin : span.end] for span in split_text(text)
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into chunk values (%(id)s, 7, 0, 4, false, 1, 'lie')",
        "delete from chunk where entry_id = %(id)s",
        "update chunk set words = 'lie' where entry_id = %(id)s",
        "delete from chunk_embedding where entry_id = %(id)s",
        "select write_chunks(%(id)s, 'lie')",
    ],
)
def test_the_servers_role_writes_no_chunk_by_itself(server: Connection, statement: Any) -> None:
    """Not even of its own entry: words and offsets are those of the text."""
    with acting_as(server, "alice"):
        entry_id = store(server, "text")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            server.execute(statement, {"id": entry_id})


@pytest.mark.parametrize(
    "chunks", ["[[0, 3, null]]", "[[0, 999, null]]", "[[2, 4, null]]", "[]", "[[null, 4, null]]"]
)
def test_offsets_are_checked_against_the_stored_text(server: Connection, chunks: str) -> None:
    with acting_as(server, "alice"):
        entry_id = store(server, "text")
        with pytest.raises(psycopg.Error) as raised:
            server.execute("select replace_chunks(%s, %s::jsonb)", (entry_id, chunks))
    assert raised.value.sqlstate == "PC033"


def test_nobody_writes_chunks_of_an_entry_that_is_not_theirs_to_change(server: Connection) -> None:
    with acting_as(server, "alice"):
        hidden = store(server, "text")
        public = store(server, "text", visibility="public")
        server.execute("select begin_request('mallory')")
        for entry_id in (hidden, public):
            with pytest.raises(psycopg.Error) as raised, server.transaction():
                server.execute("select replace_chunks(%s)", (entry_id,))
            assert raised.value.sqlstate == "PC011"


def test_chunks_are_read_under_the_rules_of_their_entry(server: Connection) -> None:
    with acting_as(server, "alice"):
        entry_id = store(server, "text")
        assert len(rows(server, SPANS, entry_id)) == 1
        server.execute("select begin_request('mallory')")
        assert rows(server, SPANS, entry_id) == []
        assert rows(server, "select * from chunk_embedding") == []


def test_entries_from_before_get_chunks_and_an_interrupted_upgrade_goes_on(postgres: PostgresServer) -> None:
    database = postgres.create_database()
    options = options_for(postgres.database(database, OWNER), True)
    try:
        provision(options)
        with psycopg.connect(options.conninfo) as connection:
            connection.execute("set search_path to pgcontext")
            for number in range(5):
                connection.execute(
                    "insert into entry (thread_id, source, content_type, visibility, owner, tags, metadata, "
                    "text_content) values ('t', 'user', 'text', 'private', 'a', '{}', '{}', %s)",
                    (f"text {number}",),
                )
            connection.execute("delete from chunk")
            # as an upgrade leaves it that has come no further
            connection.execute("delete from setting where name = 'release_fingerprint'")
        assert not is_current(options)
        assert provision(options)[-1] == "derived chunks and words of older entries for search"
        assert is_current(options)
        with psycopg.connect(options.conninfo) as connection:
            assert rows(connection, "select count(distinct entry_id) from pgcontext.chunk") == [(5,)]
    finally:
        postgres.drop_database(database)


def test_a_pgvector_that_cannot_search_on_is_refused(postgres: PostgresServer) -> None:
    database = postgres.create_database()
    try:
        postgres.execute("update pg_extension set extversion = '0.7.4' where extname = 'vector'", database)
        with pytest.raises(StartRefused, match="alter extension vector update"):
            provision(options_for(postgres.database(database, OWNER), True))
    finally:
        postgres.drop_database(database)
