"""What the guide for DBAs shows, and the generated reference, are true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgcontext.storage.postgres.reference import main, reference
from support.acting import Connection, store
from support.logins import create_login, drop_login
from support.postgres import LOGIN, PostgresServer

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "dba.md").read_text(encoding="utf-8")
QUESTION = re.compile(r"^### (\d+\. .+?)\n.*?```sql\n(.+?)\n```\n+```text\n(.+?)\n```", re.MULTILINE | re.DOTALL)
QUESTIONS = QUESTION.findall(GUIDE)
ANALYST = "pgcontext_test_dba"


@pytest.fixture(scope="module")
def name(database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def example(postgres: PostgresServer, name: str) -> None:
    """The deployment that the guide looks at."""
    with psycopg.connect(postgres.database(name, LOGIN), autocommit=True) as server:
        fill(server)
    # the first chapter of the handbook came some time ago
    postgres.execute(
        "update pgcontext.entry set updated_at = updated_at - interval '40 days', "
        "created_at = created_at - interval '40 days' where thread_id = 'handbook'",
        name,
    )
    postgres.execute("analyze", name)


def fill(server: Connection) -> None:
    """Entries of three people, of whom two share."""
    with server.transaction():
        server.execute("select pgcontext.begin_request('alice', '{editors}')")
        plan = store(server, "The release is on Thursday.", thread_id="release planning", visibility="public")
        notes = store(server, "Notes on the migration.", thread_id="release planning")
        server.execute("select pgcontext.share_entry(%s, 'group', 'editors', 'write')", (notes,))
        server.execute("select pgcontext.share_entry(%s, 'user', 'bob', 'read')", (notes,))
        assert plan
    with server.transaction():
        server.execute("select pgcontext.begin_request('bob', '{editors}')")
        for number in range(3):
            store(server, f"Observation {number} of the incident.", thread_id="incident 42", source="user")
    with server.transaction():
        server.execute("select pgcontext.begin_request('sync')")
        ingest = {"scope": "handbook", "source_id": "a.md", "meta_digest": "0" * 64, "synced_at": "x"}
        store(server, "Chapter one", thread_id="handbook", metadata={"ingest": ingest}, visibility="public")


@pytest.fixture(scope="module")
def analyst(postgres: PostgresServer, name: str, example: None) -> Iterator[Connection]:
    create_login(postgres, ANALYST)
    postgres.execute(f"grant pgcontext_reporter to {ANALYST}")
    with psycopg.connect(postgres.database(name, ANALYST), autocommit=True) as connection:
        yield connection
    drop_login(postgres, name, ANALYST)


def table(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    """Rows as psql prints them."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [" | ".join(name.center(width) for name, width in zip(names, widths, strict=True))]
    lines.append("-+-".join("-" * width for width in widths))
    lines += [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(f" {line}".rstrip() if "+" not in line else f"-{line}" for line in lines)


def test_the_guide_has_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("question, query, output", QUESTIONS, ids=[question for question, *_ in QUESTIONS])
def test_a_query_of_the_guide_gives_what_the_guide_shows(
    analyst: Connection, question: str, query: str, output: str
) -> None:
    cursor = analyst.execute(query)  # type: ignore[call-overload]
    assert cursor.description
    header, _, *lines = output.splitlines()
    assert [column.name for column in cursor.description] == [name.strip() for name in header.split("|")]
    rows = cursor.fetchall()
    assert len(rows) == len(lines), table([column.name for column in cursor.description], rows)
    for row, line in zip(rows, lines, strict=True):
        assert len(row) == len(line.split("|"))


def test_the_reference_is_what_the_catalog_says(postgres: PostgresServer, name: str) -> None:
    with psycopg.connect(postgres.database(name)) as connection:
        connection.execute("set search_path to pg_catalog")
        made = reference(connection)
    command = "python -m pgcontext.storage.postgres.reference CONNECTION_STRING > docs/sql-reference.md"
    assert made == (DOCS / "sql-reference.md").read_text(encoding="utf-8"), f"run: {command}"


def test_the_reference_is_printed(postgres: PostgresServer, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([postgres.database(name)]) == 0
    assert capsys.readouterr().out.startswith("# SQL reference\n")
    assert main([]) == 2
