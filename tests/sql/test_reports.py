"""The reports for DBAs: right figures, no texts, and only for those who report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from support.acting import Connection, rows, store
from support.logins import create_login, drop_login
from support.postgres import LOGIN, OWNER, PostgresServer

REPORTER = "pgcontext_test_reporter"
SECRETS = ("a text that is nobodys business", "covert value", "hidden tag", "secret summary", "covert.md")


@pytest.fixture(scope="module")
def name(database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def filled(postgres: PostgresServer, name: str) -> None:
    """Two entries of Alice's, one public and one of a corpus, and one of Bob's; grants and an image."""
    with psycopg.connect(postgres.database(name, LOGIN), autocommit=True) as server:
        with server.transaction():
            server.execute("select pgcontext.begin_request('alice')")
            image = {"data": "aGk=", "mime_type": "image/png", "metadata": SECRETS[1]}
            first = store(
                server,
                SECRETS[0],
                thread_id="plans",
                tags=[SECRETS[2]],
                metadata={"status": SECRETS[1]},
                images=[image],
                visibility="public",
            )
            ingest = {"scope": "handbook", "source_id": SECRETS[4], "meta_digest": "", "synced_at": ""}
            store(server, "chapter one", thread_id="handbook", source="user", metadata={"ingest": ingest})
            server.execute("select pgcontext.share_entry(%s, 'group', 'editors', 'write')", (first,))
            server.execute("select pgcontext.share_entry(%s, 'user', 'bob', 'read')", (first,))
        with server.transaction():
            server.execute("select pgcontext.begin_request('bob')")
            store(server, "bob's own", thread_id="plans")
    postgres.execute(f"update pgcontext.entry set summary = '{SECRETS[3]}' where owner = 'alice'", name)
    postgres.execute("analyze pgcontext.entry", name)


@pytest.fixture(scope="module")
def reporter(postgres: PostgresServer, name: str, filled: None) -> Iterator[Connection]:
    create_login(postgres, REPORTER)
    postgres.execute(f"grant pgcontext_reporter to {REPORTER}")
    with psycopg.connect(postgres.database(name, REPORTER), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        yield connection
    drop_login(postgres, name, REPORTER)


def report(connection: Connection, call: str) -> list[dict[str, Any]]:
    """The rows of a report, by the names of its columns."""
    cursor = connection.execute(f"select * from pgcontext.{call}")  # type: ignore[call-overload]
    assert cursor.description
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def some(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def test_usage_by_principal(reporter: Connection) -> None:
    alice, bob = report(reporter, "report_principals()")
    names = ("principal", "entries", "public_entries", "threads", "image_bytes", "grants_given", "grants_held")
    assert some(alice, *names) == ("alice", 2, 1, 2, 2, 2, 0)
    assert some(bob, *names) == ("bob", 1, 0, 1, 0, 0, 1)
    assert alice["text_bytes"] == len(SECRETS[0]) + len("chapter one")


def test_usage_by_day_shows_quiet_days_too(reporter: Connection) -> None:
    days = report(reporter, "report_days(7)")
    assert len(days) == 7
    assert days[0]["day"] == datetime.now(UTC).date()
    assert some(days[0], "new_entries", "from_users", "from_agents", "principals", "new_grants") == (3, 1, 2, 2, 2)
    assert {day["new_entries"] for day in days[1:]} == {0}


def test_growth_adds_up(reporter: Connection) -> None:
    weeks = report(reporter, "report_growth(4)")
    assert [some(week, "new_entries", "total_entries") for week in weeks] == [(3, 3), (0, 0), (0, 0), (0, 0)]


def test_thread_activity(reporter: Connection) -> None:
    threads = {thread["thread_id"]: thread for thread in report(reporter, "report_threads()")}
    assert some(threads["plans"], "entries", "principals", "public_entries") == (2, 2, 1)
    assert some(threads["handbook"], "entries", "principals", "public_entries") == (1, 1, 0)
    assert len(report(reporter, "report_threads(1)")) == 1


def test_sizes_of_every_table(reporter: Connection, postgres: PostgresServer, name: str) -> None:
    sizes = {table["relation"]: table for table in report(reporter, "report_sizes()")}
    with psycopg.connect(postgres.database(name)) as connection:
        tables = rows(connection, "select tablename from pg_tables where schemaname = 'pgcontext'")
    assert set(sizes) == {table for (table,) in tables}
    entry = sizes["entry"]
    assert entry["rows_estimated"] == 3
    assert entry["total_bytes"] == entry["table_bytes"] + entry["toast_bytes"] + entry["index_bytes"]


def test_coverage(reporter: Connection) -> None:
    parts = [some(part, "part", "covered", "total") for part in report(reporter, "report_coverage()")]
    assert parts == [("chunks with embeddings", 0, 3), ("summaries", 2, 3)]


def test_who_was_granted_what_and_what_is_public(reporter: Connection) -> None:
    names = ("principal_type", "principal_id", "permission", "owner", "entries")
    assert [some(grant, *names) for grant in report(reporter, "report_grants()")] == [
        ("group", "editors", "write", "alice", 1),
        ("user", "bob", "read", "alice", 1),
    ]
    (published,) = report(reporter, "report_publications()")
    assert some(published, "owner", "thread_id", "public_entries") == ("alice", "plans", 1)


@pytest.mark.parametrize(
    "call, expected",
    [
        ("report_readable('bob')", {"plans": (2, 1, 1, 1, 1)}),
        ("report_readable('carol', '{editors}')", {"plans": (1, 0, 1, 1, 1)}),
        ("report_readable('carol')", {"plans": (1, 0, 0, 0, 1)}),
        ("report_readable('alice')", {"plans": (1, 1, 0, 1, 1), "handbook": (1, 1, 0, 1, 0)}),
    ],
)
def test_what_somebody_may_read_and_why(
    reporter: Connection, call: str, expected: dict[str, tuple[int, ...]]
) -> None:
    names = ("entries", "own", "granted", "writable", "public_entries")
    assert {thread["thread_id"]: some(thread, *names) for thread in report(reporter, call)} == expected


def test_corpora_that_nothing_came_into_are_stale(
    reporter: Connection, postgres: PostgresServer, name: str
) -> None:
    (corpus,) = report(reporter, "report_corpora()")
    assert some(corpus, "thread_id", "owner", "entries", "is_stale") == ("handbook", "alice", 1, False)
    (corpus,) = report(reporter, "report_corpora(0)")
    assert corpus["is_stale"]


def test_logins_are_shown_with_whom_they_stand_for(
    postgres: PostgresServer, name: str, reporter: Connection
) -> None:
    create_login(postgres, "pgcontext_test_gone")
    postgres.execute("select pgcontext.map_login('pgcontext_test_gone', 'bob', '{editors}')", name)
    drop_login(postgres, name, "pgcontext_test_gone")
    (login,) = report(reporter, "report_logins()")
    names = ("login", "principal", "groups", "exists_in_database", "entries", "connections")
    assert some(login, *names) == ("pgcontext_test_gone", "bob", ["editors"], False, 1, 0)
    assert any("pgcontext_test_gone" in finding["fault"] for finding in report(reporter, "report_faults()"))
    postgres.execute("select pgcontext.unmap_login('pgcontext_test_gone')", name)


def test_duplicate_and_unused_indexes_are_told(postgres: PostgresServer, name: str, reporter: Connection) -> None:
    postgres.execute("create index entry_twin_idx on pgcontext.entry (thread_id, created_at desc, id desc)", name)
    try:
        indexes = {index["index_name"]: index for index in report(reporter, "report_indexes()")}
        assert some(indexes["entry_twin_idx"], "duplicate_of", "is_unused", "is_valid") == (
            "entry_thread_idx",
            True,
            True,
        )
        assert {index["duplicate_of"] for other, index in indexes.items() if other != "entry_twin_idx"} == {None}
        faults = [finding["fault"] for finding in report(reporter, "report_faults()")]
        assert "index entry_twin_idx is a duplicate of entry_thread_idx" in faults
    finally:
        postgres.execute("drop index pgcontext.entry_twin_idx", name)


def test_bloat_shows_after_most_of_a_table_went(postgres: PostgresServer, name: str, reporter: Connection) -> None:
    def bloat() -> int:
        indexes = {index["index_name"]: index for index in report(reporter, "report_indexes()")}
        return int(indexes["bloat_pkey"]["bloat_percent"])

    postgres.execute("create table pgcontext.bloat (id uuid primary key)", name)
    postgres.execute(f"alter table pgcontext.bloat owner to {OWNER}", name)
    try:
        ids = "select pgcontext.new_entry_id() from generate_series(1, 20000)"
        postgres.execute(f"insert into pgcontext.bloat {ids}", name)
        postgres.execute("analyze pgcontext.bloat", name)
        assert bloat() < 20
        postgres.execute("delete from pgcontext.bloat where random() < 0.9", name)
        postgres.execute("vacuum analyze pgcontext.bloat", name)
        assert bloat() > 60
    finally:
        postgres.execute("drop table pgcontext.bloat", name)


def test_configuration_tells_versions_and_settings_but_no_salt(reporter: Connection) -> None:
    told = {(line["area"], line["name"]): line["value"] for line in report(reporter, "report_configuration()")}
    assert told["version", "postgresql"]
    assert told["deployment", "default_visibility"] == "private"
    assert told["migration", "0001.entries"]
    assert ("deployment", "lock_salt") not in told


def test_slow_calls_or_why_there_are_none(reporter: Connection) -> None:
    (missing,) = report(reporter, "report_calls()")
    assert missing["note"].startswith("pg_stat_statements is not installed")


def test_slow_calls_say_what_else_is_missing(postgres: PostgresServer, name: str, reporter: Connection) -> None:
    postgres.execute("create extension pg_stat_statements", name)
    try:
        assert [line["note"].split(":")[0] for line in report(reporter, "report_calls()")] == [
            "the statements of other logins are hidden",
            "pg_stat_statements counts nothing",
        ]
    finally:
        postgres.execute("drop extension pg_stat_statements", name)


@pytest.fixture
def counting_extension(postgres: PostgresServer, name: str) -> Iterator[None]:
    """pg_stat_statements with figures in it, which need no restart of the server."""
    for statement in (
        "create extension pg_stat_statements",
        "alter extension pg_stat_statements drop view pg_stat_statements",
        "drop view pg_stat_statements",
        """
        create view public.pg_stat_statements as
        select pg_database.oid as dbid, figures.*
        from pg_database,
            (values
                ('select * from "pgcontext"."search_entries"($1::jsonb, $2)', 3, 30.0, 20.0, 90),
                ('select * from pgcontext.search_entries()', 1, 2.0, 2.0, 5),
                ('select * from "pgcontext"."get_entries"($1::uuid[])', 10, 5.0, 1.0, 10),
                ('select pgcontext.nonesuch(''a text that is nobodys business'')', 1, 900.0, 900.0, 1),
                ('select * from other.search_entries()', 1, 900.0, 900.0, 1)
            ) as figures (query, calls, total_exec_time, max_exec_time, rows)
        where pg_database.datname = current_database()
        """,
        "grant select on public.pg_stat_statements to public",
        f"grant pg_read_all_stats to {REPORTER}",
    ):
        postgres.execute(statement, name)
    yield
    postgres.execute("drop view public.pg_stat_statements", name)
    postgres.execute("drop extension pg_stat_statements", name)
    postgres.execute(f"revoke pg_read_all_stats from {REPORTER}", name)


def test_slow_calls_are_told_by_function_and_never_by_text(reporter: Connection, counting_extension: None) -> None:
    names = ("function_name", "calls", "total_ms", "mean_ms", "max_ms", "rows_returned", "note")
    assert [some(line, *names) for line in report(reporter, "report_calls()")] == [
        ("search_entries", 4, 32, 8, 20, 95, None),
        ("get_entries", 10, 5, Decimal("0.50"), 1, 10, None),
    ]


def test_no_report_shows_a_text_or_a_value(reporter: Connection, postgres: PostgresServer, name: str) -> None:
    with psycopg.connect(postgres.database(name)) as connection:
        reports = rows(
            connection,
            "select proname, pronargdefaults < pronargs from pg_proc "
            "where pronamespace = 'pgcontext'::regnamespace and starts_with(proname, 'report_')",
        )
    assert len(reports) == 15
    for function, wants_argument in reports:
        shown = str(report(reporter, f"{function}({chr(39) + 'alice' + chr(39) if wants_argument else ''})"))
        assert not any(secret in shown for secret in SECRETS), function


def test_reports_are_for_reporters_and_the_owner(postgres: PostgresServer, name: str, filled: None) -> None:
    for login, may in ((LOGIN, False), (OWNER, True)):
        with psycopg.connect(postgres.database(name, login), autocommit=True) as connection:
            if may:
                assert report(connection, "report_principals()")
            else:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    report(connection, "report_principals()")


def test_a_reporter_reads_nothing_else(reporter: Connection) -> None:
    for statement in ("select id from entry", "select * from search_entries()", "select * from setting"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reporter.execute(statement)  # type: ignore[call-overload]
