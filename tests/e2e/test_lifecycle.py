"""Starting, refusing to start, restarting, running side by side, ending."""

from __future__ import annotations

import asyncio
import http.client
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from psycopg import sql

from e2e.processes import COMMAND, Start, call, environment, on_postgres
from support.postgres import LOGIN, OWNER, PASSWORD, PostgresServer

EX_CONFIG = 78


def run(settings: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of pgcontext to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(settings),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_restart_between_two_calls(storage: dict[str, str], start: Start, era: str) -> None:
    """C53: the client notices nothing, since the server keeps nothing between calls."""
    first = start(storage).wait_until_listening()
    async with Client(first.url, mode=era) as client:
        stored = await call(client, "store_context", thread_id=era, source="agent", text="before")
        assert first.stop() == 0
        start(storage, first.port).wait_until_listening()
        read = await call(client, "get_context_by_ids", context_ids=[stored["context_id"]])
    assert [entry["text_content"] for entry in read["results"]] == ["before"]


@pytest.mark.slow
async def test_five_servers_boot_on_an_empty_database(postgres: PostgresServer, start: Start) -> None:
    name = postgres.create_database()
    settings = on_postgres(postgres.database(name, OWNER))
    servers = [start(settings) for _ in range(5)]
    for number, server in enumerate(servers):
        async with Client(server.wait_until_listening().url) as client:
            await call(client, "store_context", thread_id="boot", source="agent", text=f"server {number}")
            assert (await call(client, "search_context", thread_id="boot"))["count"] == number + 1
    for server in servers:
        assert server.stop() == 0
    postgres.drop_database(name)


@pytest.mark.slow
async def test_two_servers_share_one_sqlite_file(folder: Path, start: Start) -> None:
    """Both write at once, and each sees what the other wrote."""
    settings = {"STORAGE_BACKEND": "sqlite", "DB_PATH": str(folder / "shared.db")}
    servers = [start(settings), start(settings)]

    async def write(client: Client, number: int) -> None:
        for turn in range(50):
            await call(client, "store_context", thread_id=f"server {number}", source="agent", text=f"turn {turn}")

    async with (
        Client(servers[0].wait_until_listening().url) as left,
        Client(servers[1].wait_until_listening().url) as right,
    ):
        await asyncio.gather(write(left, 0), write(right, 1), write(left, 2), write(right, 3))
        for client in (left, right):
            threads = (await call(client, "list_threads"))["threads"]
            assert {thread["thread_id"]: thread["entry_count"] for thread in threads} == {
                f"server {number}": 50 for number in range(4)
            }


@pytest.mark.parametrize(
    "variable, value",
    [
        ("STORAGE_BACKEND", "oracle"),
        ("LOG_LEVEL", "loud"),
        ("MCP_HTTP_PORT", "eighty"),
        ("MCP_AUTH_PROVIDER", "jwt"),
        ("SEARCH_TRUNCATION_LENGTH", "5"),
        ("MAX_TOTAL_SIZE_MB", "0"),
        ("DISABLED_TOOLS", "no_such_tool"),
        ("METADATA_INDEXED_FIELDS", "status:colour"),
        ("ACCESS_CONTROL_DEFAULT_PRINCIPAL", " alice"),
        ("ACCESS_CONTROL_DEFAULT_VISIBILITY", "secret"),
        ("POSTGRESQL_SCHEMA", "pg_mine"),
        ("POSTGRESQL_POOL_MIN", "30"),
    ],
)
def test_wrong_setting_stops_the_start(folder: Path, variable: str, value: str) -> None:
    settings = {"DB_PATH": str(folder / "never.db"), "MCP_HTTP_PORT": "0"}
    done = run(settings | {variable: value}, folder, "serve")
    assert done.returncode == EX_CONFIG
    assert variable in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_wrong_setting_in_the_env_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("STORAGE_BACKEND=oracle\n")
    done = run({}, tmp_path, "serve", "--port", "0")
    assert done.returncode == EX_CONFIG
    assert "STORAGE_BACKEND" in done.stderr


def test_unusable_storage_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "letter.db").write_text("Dear reader, this is no database. " * 100)
    done = run({"DB_PATH": str(tmp_path / "letter.db")}, tmp_path, "serve", "--port", "0")
    assert done.returncode != 0
    assert "letter.db" in done.stderr
    assert "Traceback" not in done.stderr

    done = run(on_postgres("host=/nowhere dbname=nothing"), tmp_path, "serve", "--port", "0")
    assert done.returncode not in (0, None)
    assert "/nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_taken_port_stops_the_start(folder: Path, start: Start) -> None:
    server = start({"DB_PATH": str(folder / "port.db")}).wait_until_listening()
    done = run({"DB_PATH": str(folder / "port.db")}, folder, "serve", "--port", str(server.port))
    assert done.returncode not in (0, None)
    assert str(server.port) in done.stderr
    assert "Traceback" not in done.stderr


class TestInertPolicies:
    """C4: where row-level security would protect nothing, the server refuses to start and says why."""

    STRANGER = "pgcontext_test_stranger"

    @pytest.fixture
    def refusal(self, postgres: PostgresServer, database: Callable[[], str], folder: Path) -> Callable[..., str]:
        """Starts a server and returns why it refused."""

        def refusal(user: str = LOGIN) -> str:
            done = run(on_postgres(postgres.database(database(), user)), folder, "serve", "--port", "0")
            assert done.returncode == EX_CONFIG
            assert "Traceback" not in done.stderr
            return done.stderr

        return refusal

    @pytest.fixture
    def stranger(self, postgres: PostgresServer) -> Iterator[str]:
        """A login that is no member of pgcontext_server."""
        role = sql.Identifier(self.STRANGER)
        postgres.execute(sql.SQL("create role {} login password {}").format(role, sql.Literal(PASSWORD)))
        yield self.STRANGER
        postgres.execute(sql.SQL("drop role {}").format(role))

    def test_login_outside_the_server_role(self, refusal: Callable[..., str], stranger: str) -> None:
        assert "pgcontext_server" in refusal(stranger)

    def test_server_role_bypasses_policies(self, postgres: PostgresServer, refusal: Callable[..., str]) -> None:
        postgres.execute("alter role pgcontext_server bypassrls")
        try:
            assert "BYPASSRLS" in refusal()
        finally:
            postgres.execute("alter role pgcontext_server nobypassrls")

    def test_server_role_is_superuser(self, postgres: PostgresServer, refusal: Callable[..., str]) -> None:
        postgres.execute("alter role pgcontext_server superuser")
        try:
            assert "superuser" in refusal()
        finally:
            postgres.execute("alter role pgcontext_server nosuperuser")

    @pytest.mark.parametrize("table", ["entry", "entry_grant", "entry_image"])
    def test_policies_switched_off(
        self, postgres: PostgresServer, database: Callable[[], str], refusal: Callable[..., str], table: str
    ) -> None:
        postgres.execute(f"alter table pgcontext.{table} disable row level security", database())
        try:
            assert f"not active on table {table}" in refusal()
        finally:
            postgres.execute(f"alter table pgcontext.{table} enable row level security", database())

    def test_server_role_owns_a_table(
        self, postgres: PostgresServer, database: Callable[[], str], refusal: Callable[..., str]
    ) -> None:
        postgres.execute("alter table pgcontext.entry owner to pgcontext_server", database())
        try:
            assert "may act as the owner of table entry" in refusal()
        finally:
            postgres.execute(f"alter table pgcontext.entry owner to {OWNER}", database())

    def test_database_that_nobody_prepared(self, postgres: PostgresServer, folder: Path) -> None:
        name = postgres.create_database()
        done = run(on_postgres(postgres.database(name, LOGIN)), folder, "serve", "--port", "0")
        postgres.drop_database(name)
        assert done.returncode == EX_CONFIG
        assert "pgcontext migrate" in done.stderr


def test_migrate_then_serve_as_an_ordinary_login(postgres: PostgresServer, folder: Path, start: Start) -> None:
    name = postgres.create_database()
    first, second = (run(on_postgres(postgres.database(name, OWNER)), folder, "migrate") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0)
    assert "applied migration" in first.stdout
    assert "up to date" in second.stdout
    start(on_postgres(postgres.database(name, LOGIN))).wait_until_listening().kill()
    postgres.drop_database(name)


async def test_sigterm_ends_the_server_cleanly(storage: dict[str, str], start: Start) -> None:
    """With a client that is connected and another that holds an event stream open."""
    server = start(storage).wait_until_listening()
    stream = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    stream.request("GET", "/mcp", headers={"Accept": "text/event-stream"})
    assert stream.getresponse().status in (200, 405)
    async with Client(server.url) as client:
        await call(client, "store_context", thread_id="end", source="agent", text="last words")
        assert await asyncio.to_thread(server.stop) == 0
    stream.close()
    assert "Traceback" not in server.said()
    if "DB_PATH" in storage:
        # the last connection folds the log back into the file, if it is closed and not just dropped
        assert not await anyio.Path(storage["DB_PATH"] + "-wal").exists()


async def test_killed_server_loses_nothing(storage: dict[str, str], start: Start) -> None:
    first = start(storage).wait_until_listening()
    async with Client(first.url) as client:
        stored = await call(client, "store_context", thread_id="kill", source="agent", text="acknowledged")
    first.kill()
    async with Client(start(storage).wait_until_listening().url) as client:
        read = await call(client, "get_context_by_ids", context_ids=[stored["context_id"]])
    assert [entry["text_content"] for entry in read["results"]] == ["acknowledged"]
