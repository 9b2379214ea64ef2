"""Migrations on a connection that the caller holds, for both backends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from psycopg.rows import dict_row
from yoyo.exceptions import BadMigration

from pgcontext.resources import resource_folder
from pgcontext.storage.migrations import apply_pending


class SqliteCase:
    """An empty database in memory."""

    folder = "sqlite"

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        with self.connection:
            yield self.connection

    def tables(self) -> set[str]:
        rows = self.connection.execute("select name from sqlite_schema where type = 'table'")
        return {str(name) for (name,) in rows}


class PostgresCase:
    """An empty schema on a connection that returns its rows as dicts."""

    folder = "postgresql"

    def __init__(self, dsn: str) -> None:
        self.connection = psycopg.connect(dsn, row_factory=dict_row, autocommit=True)
        self.connection.execute("drop schema if exists migrated cascade")
        self.connection.execute("create schema migrated")
        for extension in ("vector", "pg_trgm"):
            self.connection.execute(f"create extension if not exists {extension} with schema public")

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        with self.connection.transaction():
            self.connection.execute("set local search_path to migrated, public, pg_temp")
            yield self.connection

    def tables(self) -> set[str]:
        rows = self.connection.execute(
            "select table_name from information_schema.tables where table_schema = 'migrated'"
        )
        return {row["table_name"] for row in rows}


@pytest.fixture(params=["sqlite", "postgresql"])
def case(request: pytest.FixtureRequest) -> Iterator[SqliteCase | PostgresCase]:
    case: SqliteCase | PostgresCase
    case = SqliteCase() if request.param == "sqlite" else PostgresCase(request.getfixturevalue("postgres").dsn)
    yield case
    case.connection.close()


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name.replace('__', '.')}.sql").write_text(text)
    return folder


def test_the_migrations_of_the_product_are_applied_once(case):
    folder = resource_folder("migrations") / case.folder
    with case.transaction() as connection:
        applied = apply_pending(connection, folder)
        assert applied[0] == "0001.entries"
        assert apply_pending(connection, folder) == []
    with case.transaction() as connection:
        assert apply_pending(connection, folder) == []
    assert {"entry", "entry_grant", "entry_image", "_yoyo_migration"} <= case.tables()
    assert "yoyo_lock" not in case.tables()


def test_a_later_migration_is_applied_alone_and_in_order(case, tmp_path):
    write(tmp_path, m1__one="create table one (x text default '100%s :when');")
    with case.transaction() as connection:
        assert apply_pending(connection, tmp_path) == ["m1.one"]
    write(
        tmp_path,
        m0__three="-- depends: m2.two\ncreate table three (x integer);",
        m2__two="-- depends: m1.one\nalter table one rename to two;",
    )
    with case.transaction() as connection:
        assert apply_pending(connection, tmp_path) == ["m2.two", "m0.three"]
    assert {"two", "three"} <= case.tables()
    assert "one" not in case.tables()


def test_a_failing_migration_raises_and_leaves_nothing(case, tmp_path):
    write(
        tmp_path,
        m1__one="create table one (x integer);",
        m2__two="create table two (x integer); create table one (x integer);",
    )
    with pytest.raises((apsw.SQLError, psycopg.errors.DuplicateTable)), case.transaction() as connection:
        apply_pending(connection, tmp_path)
    assert case.tables() == set()


@pytest.mark.parametrize("directive", ["depends: m0.unknown", "transactional: false"])
def test_a_migration_that_cannot_be_run_raises(case, tmp_path, directive):
    write(tmp_path, m1__one=f"-- {directive}\ncreate table one (x integer);")
    with pytest.raises(BadMigration), case.transaction() as connection:
        apply_pending(connection, tmp_path)
    assert case.tables() == set()


def test_a_migration_prints_nothing(case, tmp_path, capsys):
    write(tmp_path, m1__one="create table one (x integer); select 1 as printed;")
    with case.transaction() as connection:
        apply_pending(connection, tmp_path)
    assert capsys.readouterr().out == ""


def test_a_user_id_without_a_name_can_migrate(case, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: pytest.fail("asked for a user name"))
    with case.transaction() as connection:
        apply_pending(connection, resource_folder("migrations") / case.folder)


def test_the_files_of_the_package_are_found_and_a_missing_folder_is_named(case, tmp_path):
    assert (resource_folder("sql") / "install.order").exists()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        resource_folder("nowhere")
    with pytest.raises(FileNotFoundError, match="no migrations"), case.transaction() as connection:
        apply_pending(connection, tmp_path)
