"""Holes that somebody found by trying: each test is a promise that an attack once broke."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from pydantic import ValidationError

from pgcontext.contracts.entries import StoreContext
from pgcontext.contracts.limits import Limits
from pgcontext.errors import StartRefused
from pgcontext.principal import Principal
from pgcontext.storage.postgres.store import PostgresStore
from pgcontext.storage.store import Store
from support.acting import Connection, acting_as, rows, store
from support.postgres import LOGIN, OWNER, PASSWORD, PostgresServer
from support.world import World

PARTNER = "pgcontext_test_partner"
UNKNOWN_ID = "01900000-0000-7000-8000-000000000000"
COLUMNS = (
    "id, created_at, updated_at, version, thread_id, source, content_type, visibility, tags, metadata, "
    "text_content"
)
StoreFactory = Callable[..., Store]


@pytest.fixture(scope="module")
def name(postgres: PostgresServer, database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def connect(postgres: PostgresServer, name: str) -> Iterator[Callable[..., Connection]]:
    """Opens a connection to this module's database, as the superuser or as one of the test logins."""
    opened: list[Connection] = []

    def open_one(user: str | None = None) -> Connection:
        opened.append(psycopg.connect(postgres.database(name, user), autocommit=True))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture(scope="module")
def server(connect: Callable[..., Connection]) -> Connection:
    """A connection of the server's login."""
    return connect(LOGIN)


@pytest.fixture(scope="module")
def operator(connect: Callable[..., Connection]) -> Connection:
    """A connection of the owner of the tables."""
    return connect(OWNER)


@pytest.fixture
def partner(postgres: PostgresServer, name: str, connect: Callable[..., Connection]) -> Iterator[Connection]:
    """A login of its own that was generously granted every table, view and function, but not the server's role."""
    postgres.execute(f"create role {PARTNER} login password '{PASSWORD}'")
    postgres.execute(f"grant usage, create on schema public to {PARTNER}", name)
    postgres.execute(f"grant usage on schema pgcontext to {PARTNER}", name)
    postgres.execute(f"grant select, insert, update, delete on all tables in schema pgcontext to {PARTNER}", name)
    postgres.execute(f"grant execute on all functions in schema pgcontext to {PARTNER}", name)
    yield connect(PARTNER)
    postgres.execute(f"drop owned by {PARTNER}", name)
    postgres.execute(f"drop role {PARTNER}")


@pytest.fixture
def secret(server: Connection) -> Iterator[str]:
    """A private entry of Alice's, shared with Bob; its id."""
    with requesting(server, "alice"):
        entry_id = store(server, "the secret of alice", thread_id="alices")
        server.execute("select pgcontext.share_entry(%s, 'user', 'bob', 'write')", (entry_id,))
    yield entry_id
    with requesting(server, "alice"):
        server.execute("select pgcontext.delete_entries(array[%s]::uuid[])", (entry_id,))


@contextmanager
def requesting(connection: Connection, principal: str) -> Iterator[None]:
    """One request of this principal, committed in the end."""
    with connection.transaction():
        connection.execute("select pgcontext.begin_request(%s)", (principal,))
        yield


# who is who


async def test_principals_that_begin_alike_are_different_people(world: World) -> None:
    """No name is cut: the type `name` of PostgreSQL holds 63 bytes."""
    beginning = "spiffe://example.org/ns/agents/sa/research-assistant-of-the-blue-team/"
    alice, mallory, prefix = (world.as_(who) for who in (beginning + "alice", beginning + "m", beginning[:63]))
    private = await alice.store("private")
    public = await alice.store("public", visibility="public")
    assert await alice.search() == [public, private]
    assert await prefix.search() == [public]
    assert [entry["is_owner"] for entry in await mallory.get(public)] == [False]
    assert (await mallory.call("delete_context", context_ids=[public])).is_error
    assert (await mallory.call("list_context_grants", context_id=public)).is_error


# what the database tells a stranger


@pytest.mark.parametrize("function", ["entry_readers(%s, 'x', 'private')", "entry_writers(%s, 'x')"])
def test_no_function_tells_who_else_may_read(server: Connection, secret: str, function: str) -> None:
    with acting_as(server, "mallory"):
        try:
            answer = str(rows(server, f"select {function}", secret))
        except psycopg.errors.InsufficientPrivilege:
            return
    assert "bob" not in answer


def test_an_id_in_use_is_not_told_from_one_that_is_not(server: Connection, secret: str) -> None:
    answers = []
    for entry_id in (secret, UNKNOWN_ID):
        with acting_as(server, "mallory"):
            try:
                inserted = server.execute(
                    f"insert into entry ({COLUMNS}) values (%s, now(), now(), 1, 't', 'user', 'text', 'private', "
                    "'{}', '{}', 'probe') on conflict do nothing",  # type: ignore[arg-type]
                    (entry_id,),
                )
                answers.append(str(inserted.rowcount))
            except psycopg.Error as error:
                answers.append(str(error.sqlstate))
    assert answers[0] == answers[1]


def test_a_function_of_ones_own_sees_no_hidden_text_through_a_view(partner: Connection, secret: str) -> None:
    seen: list[str] = []
    partner.add_notice_handler(lambda notice: seen.append(str(notice.message_primary)))
    partner.execute(
        "create function public.peek(seen text) returns boolean language plpgsql cost 0.0000001 "
        "as $$ begin raise notice '%', seen; return true; end $$"
    )
    for view in ("entry", "readable_entries()"):
        try:
            rows(partner, f"select id from pgcontext.{view} where public.peek(text_content)")
        except psycopg.errors.InsufficientPrivilege:
            continue
    assert seen == []


def test_a_stranger_cannot_hold_up_somebody_elses_stores(
    server: Connection, connect: Callable[..., Connection], partner: Connection
) -> None:
    """Any login may take any advisory lock, so its key must not be guessable."""
    key = "hashtextextended(concat_ws(e'\\x1f', 'pgcontext', 'alice', 't', 'agent'), 0)"
    partner.execute(f"select pg_advisory_lock({key})")  # type: ignore[arg-type]
    try:
        with server.transaction(force_rollback=True):
            server.execute("select pgcontext.begin_request('alice', p_timeout_ms => 2000)")
            store(server, "not held up", deduplicate=True)
    finally:
        partner.execute("select pg_advisory_unlock_all()")


# what a login with generous grants can change


@pytest.mark.parametrize("change", ["owner = %(me)s", "readers = '{*}'", "writers = array['user:' || %(me)s]"])
def test_nobody_writes_the_columns_that_say_who_may_do_what(
    server: Connection, partner: Connection, change: str
) -> None:
    with requesting(server, "alice"):
        entry_id = store(server, "shared for editing")
        server.execute("select pgcontext.share_entry(%s, 'user', %s, 'write')", (entry_id, PARTNER))
    query = f"select owner, readers, writers from pgcontext.entry where id = '{entry_id}'"
    before = rows(partner, query)
    try:
        partner.execute(f"update pgcontext.entry set {change}", {"me": PARTNER})  # type: ignore[arg-type]
    except psycopg.Error:
        partner.rollback()
    assert rows(partner, query) == before


def test_the_anonymous_principal_is_granted_nothing_past_the_functions(
    server: Connection, operator: Connection
) -> None:
    operator.execute("insert into pgcontext.setting values ('anonymous_principal', 'nobody')")
    try:
        with acting_as(server, "alice"), pytest.raises(psycopg.Error):
            server.execute(
                "insert into entry_grant (entry_id, principal_type, principal_id, permission, granted_by, "
                "created_at) values (%s, 'user', 'nobody', 'read', 'alice', now())",
                (store(server, "for readers"),),
            )
    finally:
        operator.execute("delete from pgcontext.setting where name = 'anonymous_principal'")


@pytest.mark.parametrize(
    ("column", "value"), [("created_at", "'infinity'"), ("updated_at", "'0044-03-15 BC'"), ("tags", "array[null]")]
)
def test_no_entry_can_be_written_that_the_server_cannot_read(server: Connection, column: str, value: str) -> None:
    """One such public entry would break every search of everybody."""
    values = {"created_at": "now()", "updated_at": "now()", "tags": "'{}'"} | {column: value}
    with acting_as(server, "mallory"):
        try:
            server.execute(
                f"insert into entry ({COLUMNS}) values (new_entry_id(), {values['created_at']}, "
                f"{values['updated_at']}, 1, 't', 'user', 'text', 'private', {values['tags']}, '{{}}', 'poison')"  # type: ignore[arg-type]
            )
        except (psycopg.errors.CheckViolation, psycopg.errors.InsufficientPrivilege):
            return
        # what cannot be read must not be there
        ((stored,),) = rows(server, f"select coalesce({column}::text, '') from entry")
    assert not any(part in stored for part in ("infinity", "BC", "NULL"))


# readers follow grants


def test_a_grant_withdrawn_while_another_is_made_is_withdrawn(
    server: Connection, connect: Callable[..., Connection]
) -> None:
    with requesting(server, "alice"):
        entry_id = store(server, "shared for a while")
        server.execute("select pgcontext.share_entry(%s, 'user', 'mallory', 'read')", (entry_id,))
    other = connect(LOGIN)

    def grant() -> None:
        with requesting(other, "alice"):
            other.execute(
                "insert into pgcontext.entry_grant (entry_id, principal_type, principal_id, permission, "
                "granted_by, created_at) values (%s, 'user', 'bob', 'read', 'alice', now())",
                (entry_id,),
            )

    thread = threading.Thread(target=grant)
    with requesting(server, "alice"):
        server.execute("delete from pgcontext.entry_grant where entry_id = %s", (entry_id,))
        thread.start()
        time.sleep(0.5)
    thread.join()
    with acting_as(server, "mallory"):
        assert rows(server, "select count(*) from entry where id = %s", entry_id) == [(0,)]


@pytest.mark.parametrize(
    "statement",
    [
        "update pgcontext.entry_grant set principal_id = 'carol' where principal_id = 'bob'",
        "truncate pgcontext.entry_grant",
    ],
)
def test_whatever_the_operator_does_to_grants_holds_at_once(
    server: Connection, operator: Connection, secret: str, statement: str
) -> None:
    """Or it is refused; a reader whose grant is gone reads no more."""
    try:
        operator.execute(statement)  # type: ignore[arg-type]
    except psycopg.Error:
        return
    with acting_as(server, "bob"):
        assert rows(server, "select count(*) from entry where id = %s", secret) == [(0,)]


def test_an_entry_that_the_operator_gives_away_changes_hands_or_does_not(
    server: Connection, operator: Connection, secret: str
) -> None:
    try:
        operator.execute("update pgcontext.entry set owner = 'carol' where id = %s", (secret,))
    except psycopg.Error:
        return
    owners = []
    for person in ("alice", "carol"):
        with acting_as(server, person):
            owners.append(rows(server, "select is_owner from get_entry_rights(array[%s]::uuid[])", secret))
    operator.execute("update pgcontext.entry set owner = 'alice' where id = %s", (secret,))
    assert owners == [[], [(True,)]]


# a server that cannot keep its promises does not start


@pytest.mark.parametrize(
    ("open_up", "close_again"),
    [
        ("create policy everybody on pgcontext.entry using (true)", "drop policy everybody on pgcontext.entry"),
        (
            "alter policy entry_read on pgcontext.entry using (true)",
            "alter policy entry_read on pgcontext.entry using (readers && (select pgcontext.current_readers()))",
        ),
        (
            "grant select (owner, readers) on pgcontext.entry to pgcontext_server",
            "revoke select (owner, readers) on pgcontext.entry from pgcontext_server",
        ),
    ],
)
async def test_a_server_refuses_a_database_whose_second_wall_has_a_hole(
    make_store: StoreFactory, operator: Connection, open_up: str, close_again: str
) -> None:
    store_ = make_store("postgresql")
    operator.execute(open_up)  # type: ignore[arg-type]
    try:
        with pytest.raises(StartRefused):
            await store_.open()
    finally:
        await store_.close()
        operator.execute(close_again)  # type: ignore[arg-type]


# the process stays


@pytest.fixture
async def lone_connection(make_store: StoreFactory) -> AsyncIterator[PostgresStore]:
    """A store with a single connection."""
    store_ = make_store("postgresql", pool_min=1, pool_max=1, pool_timeout=2)
    assert isinstance(store_, PostgresStore)
    await store_.open()
    yield store_
    await store_.close()


async def test_a_call_cancelled_at_its_very_end_gives_its_connection_back(lone_connection: PostgresStore) -> None:
    alice = Principal("alice")
    pool: Any = lone_connection._pool
    await lone_connection.list_threads(alice, None, 0)
    call = asyncio.create_task(lone_connection.list_threads(alice, None, 0))
    while pool.get_stats()["pool_available"]:  # noqa: ASYNC110
        await asyncio.sleep(0)
    # somebody else hands a connection to a caller who waits
    async with pool._lock:
        await asyncio.sleep(0.3)
        call.cancel()
        await asyncio.wait([call], timeout=1)
    await lone_connection.list_threads(alice, None, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"thread_id": "t", "source": "user", "text": "x", "images": [{}] * 20_000},
        {"thread_id": "t", "source": "user", "text": "x"} | {f"unknown{n}": 0 for n in range(20_000)},
    ],
    ids=["images", "parameters"],
)
async def test_many_faults_are_answered_briefly(world: World, arguments: dict[str, Any]) -> None:
    """Ten seconds and 800 MB for one megabyte of faults are a way to stop the server for everybody."""
    result = await world.as_("mallory").call("store_context", **arguments)
    assert result.is_error
    assert len(result.content[0].text) < 20_000  # type: ignore[union-attr]


def test_not_every_wrong_image_is_told() -> None:
    """Five megabytes of them took a minute and 3.5 GB to tell, and nobody else was served meanwhile."""
    arguments = {"thread_id": "t", "source": "user", "text": "x", "images": [{}] * 1000}
    with pytest.raises(ValidationError) as refusal:
        StoreContext.model_validate(arguments, context=Limits())
    assert refusal.value.error_count() <= 200


async def test_many_faults_in_one_filter_are_answered_briefly(world: World) -> None:
    condition = {"key": "status", "operator": "exists"} | {f"unknown{n}": 0 for n in range(20_000)}
    result = await world.as_("mallory").call("search_context", metadata_filters=[condition])
    assert len(result.content[0].text) < 20_000  # type: ignore[union-attr]


@pytest.mark.parametrize("way", ["patch", "merge"])
async def test_metadata_stays_within_its_limit_however_it_grows(world: World, way: str) -> None:
    """A search returns the metadata of thirty entries to everybody who may read them."""
    alice = world.as_("alice")
    entry_id = await alice.store("grows", metadata={"a": "x" * 600_000})
    more = {"b": "x" * 600_000}
    if way == "patch":
        result = await alice.call("update_context", context_id=entry_id, metadata_patch=more)
    else:
        result = await alice.call("store_context", thread_id="t", source="agent", text="grows", metadata=more)
    assert result.is_error
    assert [list(entry["metadata"]) for entry in await alice.get(entry_id)] == [["a"]]


@pytest.mark.parametrize("member", ['"id": "\\ud800", "method": "ping"', '"id": 1, "method": "\\ud800"'])
def test_stdio_outlives_a_message_that_has_no_answer(tmp_path: Any, member: str) -> None:
    environment = os.environ | {"DB_PATH": str(tmp_path / "pgcontext.db")}
    command = [sys.executable, "-m", "pgcontext", "serve", "--stdio"]
    initialize = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(initialize).encode() + b"\n")
            process.stdin.write(b'{"jsonrpc": "2.0", ' + member.encode() + b"}\n")
            process.stdin.flush()
            time.sleep(3)
            process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n')
            process.stdin.close()
            answers = [json.loads(line) for line in process.stdout]
        except BrokenPipeError:
            answers = []
        finally:
            process.kill()
    assert 7 in [answer["id"] for answer in answers]
