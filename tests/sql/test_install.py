"""Installing, upgrading, and starting many servers at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from pgcontext.errors import StartRefused
from pgcontext.storage.postgres import installer
from pgcontext.storage.postgres.installer import SqlFile, ensure_current, is_current, provision
from pgcontext.storage.postgres.options import PostgresOptions
from pgcontext.storage.postgres.store import PostgresStore
from support.acting import acting_as, rows, store
from support.options import options_for
from support.postgres import LOGIN, OWNER, PostgresServer


@pytest.fixture
def empty(postgres: PostgresServer) -> Iterator[PostgresOptions]:
    """Options that lead to an empty database, as the owner."""
    name = postgres.create_database()
    yield options_for(postgres.database(name, OWNER), row_level_security=True)
    postgres.drop_database(name)


def _as_login(options: PostgresOptions) -> PostgresOptions:
    return replace(options, conninfo=options.conninfo.replace(OWNER, LOGIN))


def _with_changed(monkeypatch: pytest.MonkeyPatch, change: Callable[[SqlFile], SqlFile]) -> None:
    """Let the release consist of other files than the ones on disk."""
    genuine = installer.sql_files

    def changed(version: int) -> tuple[SqlFile, ...]:
        return tuple(change(file) for file in genuine(version))

    monkeypatch.setattr(installer, "sql_files", changed)
    installer.release_fingerprint.cache_clear()


@pytest.fixture(autouse=True)
def _forget_fingerprint() -> Iterator[None]:
    yield
    installer.release_fingerprint.cache_clear()


def test_installing_twice_changes_nothing(empty: PostgresOptions) -> None:
    assert provision(empty)
    assert is_current(empty)
    assert provision(empty) == []


def test_five_servers_install_at_once_on_an_empty_database(empty: PostgresOptions) -> None:
    with ThreadPoolExecutor(5) as pool:
        done = list(pool.map(ensure_current, [empty] * 5))
    assert is_current(empty)
    assert sum(any("applied migration" in line for line in lines) for lines in done) == 1


def test_a_failing_file_leaves_nothing_behind(empty: PostgresOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_changed(
        monkeypatch, lambda file: replace(file, text="select 1/0") if file.name == "list_grants" else file
    )
    with pytest.raises(psycopg.errors.DivisionByZero):
        provision(empty)
    with psycopg.connect(empty.conninfo) as connection:
        assert rows(connection, "select to_regnamespace('pgcontext')") == [(None,)]


def test_a_changed_body_is_replaced_where_it_stands(
    empty: PostgresOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    provision(empty)
    _with_changed(monkeypatch, lambda file: replace(file, text=file.text + "\n-- changed\n"))
    assert not is_current(empty)
    assert any("SQL files" in line for line in provision(empty))


def test_a_changed_signature_replaces_the_old_function(
    empty: PostgresOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    provision(empty)
    with psycopg.connect(empty.conninfo) as connection, acting_as(connection, "alice"):
        store(connection, "kept")
    _with_changed(
        monkeypatch,
        lambda file: replace(
            file,
            text=file.text.replace("entry_hex(p_entry_id uuid)", "entry_hex(p_entry_id uuid, p_more text = '')"),
        ),
    )
    provision(empty)
    with psycopg.connect(empty.conninfo) as connection:
        assert rows(
            connection,
            "select pronargs from pg_proc "
            "where proname = 'entry_hex' and pronamespace = 'pgcontext'::regnamespace",
        ) == [(2,)]
        with acting_as(connection, "alice"):
            assert store(connection, "and it works")


def test_an_upgrade_does_not_drop_what_others_built(
    empty: PostgresOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    provision(empty)
    with psycopg.connect(empty.conninfo) as connection:
        connection.execute("create view public.report as select pgcontext.entry_hex(id) from pgcontext.entry")
    _with_changed(
        monkeypatch,
        lambda file: replace(
            file,
            text=file.text.replace("entry_hex(p_entry_id uuid)", "entry_hex(p_entry_id uuid, p_more text = '')"),
        ),
    )
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        provision(empty)
    with psycopg.connect(empty.conninfo) as connection:
        assert rows(connection, "select * from public.report") == []


def test_a_removed_function_goes_with_its_file(empty: PostgresOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = SqlFile("util/obsolete.sql", "create function obsolete() returns integer language sql return 1;")
    genuine = installer.sql_files
    with monkeypatch.context() as patch:
        patch.setattr(installer, "sql_files", lambda version: (*genuine(version), extra))
        installer.release_fingerprint.cache_clear()
        provision(empty)
    installer.release_fingerprint.cache_clear()
    provision(empty)
    with psycopg.connect(empty.conninfo) as connection:
        assert rows(connection, "select to_regproc('pgcontext.obsolete')") == [(None,)]


def test_the_schema_can_have_any_name(empty: PostgresOptions) -> None:
    for schema in ("tenant_a", "tenant_b"):
        provision(replace(empty, schema=schema))
    with psycopg.connect(empty.conninfo) as connection, connection.transaction():
        connection.execute("select tenant_a.begin_request('alice')")
        connection.execute(
            """select tenant_a.store_entries('[{"thread_id": "t", "source": "user", "text": "in a"}]')"""
        )
        assert len(rows(connection, "select * from tenant_a.search_entries()")) == 1
        assert rows(connection, "select * from tenant_b.search_entries()") == []


def test_a_login_that_may_not_install_is_told_what_to_do(empty: PostgresOptions) -> None:
    with pytest.raises(StartRefused, match="pgcontext migrate"):
        ensure_current(_as_login(empty))


def test_other_settings_than_the_servers_refuse_the_start(empty: PostgresOptions) -> None:
    provision(empty)
    other = replace(empty, policy=replace(empty.policy, publish_role="editors"))
    with pytest.raises(StartRefused, match="other settings"):
        ensure_current(_as_login(other))


def test_a_login_that_may_install_brings_the_settings_along(empty: PostgresOptions) -> None:
    provision(empty)
    other = replace(empty, policy=replace(empty.policy, publish_role="editors"))
    ensure_current(other)
    assert is_current(_as_login(other))


@pytest.mark.parametrize(
    "index_mode, expected", [("warn", "missing"), ("additive", "created"), ("auto", "created")]
)
def test_metadata_indexes_follow_the_settings(empty: PostgresOptions, index_mode: str, expected: str) -> None:
    provision(empty)
    wider = replace(
        empty, indexed_fields={**empty.indexed_fields, "sprint": "integer"}, index_sync_mode=index_mode
    )
    assert any(line == f"index on metadata field sprint: {expected}" for line in provision(wider))


def test_auto_drops_an_index_that_is_no_longer_wanted(empty: PostgresOptions) -> None:
    provision(empty)
    narrower = replace(empty, indexed_fields={"status": "string"}, index_sync_mode="auto")
    assert "index on metadata field project: dropped" in provision(narrower)


def test_strict_refuses_when_the_indexes_differ(empty: PostgresOptions) -> None:
    provision(empty)
    with pytest.raises(StartRefused, match="METADATA_INDEX_SYNC_MODE=strict"):
        provision(replace(empty, indexed_fields={"status": "string"}, index_sync_mode="strict"))


@pytest.mark.parametrize(
    "spoil, reason",
    [
        ("alter role {login} bypassrls", None),
        ("alter table pgcontext.entry disable row level security", "not active on table entry"),
        ("alter role pgcontext_server bypassrls", "BYPASSRLS"),
        ("alter role pgcontext_server superuser", "superuser"),
        ("revoke pgcontext_server from {login}", "may not take on the role"),
    ],
)
def test_a_deployment_with_inert_policies_refuses_to_start(
    empty: PostgresOptions, postgres: PostgresServer, spoil: str, reason: str | None
) -> None:
    """A login that could bypass the policies is fine: every request gives that up first."""
    provision(empty)
    database = psycopg.conninfo.conninfo_to_dict(empty.conninfo)["dbname"]
    postgres.execute(spoil.format(login=LOGIN), str(database))

    async def start() -> None:
        server = PostgresStore(_as_login(empty))
        try:
            await server.open()
        finally:
            await server.close()

    try:
        if reason is None:
            asyncio.run(start())
        else:
            with pytest.raises(StartRefused, match=reason):
                asyncio.run(start())
    finally:
        postgres.execute(f"alter role {LOGIN} nobypassrls")
        postgres.execute("alter role pgcontext_server nosuperuser nobypassrls")
        postgres.execute(f"grant pgcontext_server to {LOGIN}")


@pytest.mark.parametrize("suffix", ["", ".18"])
def test_new_ids_are_version_7_and_in_order(empty: PostgresOptions, suffix: str) -> None:
    provision(empty)
    path = Path(installer.resource_folder("sql") / "util" / f"new_entry_id{suffix}.sql")
    with psycopg.connect(empty.conninfo) as connection:
        if suffix and connection.info.server_version < 180000:
            return
        connection.execute("set search_path to pgcontext")
        connection.execute(path.read_text())  # type: ignore[call-overload]
        ids = [row[0] for row in rows(connection, "select new_entry_id() from generate_series(1, 500)")]
        # two ids of the same quarter of a microsecond may stand in any order
        stamps = [entry_id.int >> 64 for entry_id in ids]
        ((age,),) = rows(
            connection,
            "select abs(extract(epoch from clock_timestamp()) * 1000 - "
            "('x' || substr(replace(new_entry_id()::text, '-', ''), 1, 12))::bit(48)::bigint)",
        )
    assert {entry_id.version for entry_id in ids} == {7}
    assert {entry_id.variant for entry_id in ids} == {"specified in RFC 4122"}
    assert stamps == sorted(stamps)
    assert len(set(ids)) == len(ids)
    assert age < 60_000
