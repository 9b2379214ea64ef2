"""A team at work: 200 clients of 20 people, two servers on one database, five connections each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import httpx2
import psycopg
import pytest

from e2e.load import BUSY, INTERRUPTED, PEOPLE, Connections, Load, Refused
from e2e.processes import ServerProcess, on_postgres
from pgcontext.storage.postgres.installer import provision
from support.issuer import jwt_settings
from support.options import options_for, settings_for
from support.postgres import LOGIN, OWNER, PostgresServer

CLIENTS = 200
POOL = 5
SERVERS = 2


@pytest.fixture(scope="module")
def database_name(postgres: PostgresServer, database: Callable[[bool], str]) -> str:
    """A database where teams read what their members write."""
    name = database(True)
    chosen = settings_for(access_control_default_group_grants="author_groups")
    provision(options_for(postgres.database(name, OWNER), True, chosen))
    return name


@pytest.fixture(scope="module")
def servers(postgres: PostgresServer, database_name: str, folder: Path) -> Iterator[list[ServerProcess]]:
    settings = on_postgres(postgres.database(database_name, LOGIN)) | jwt_settings(
        ACCESS_CONTROL_DEFAULT_GROUP_GRANTS="author_groups",
        POSTGRESQL_POOL_MAX=str(POOL),
        POSTGRESQL_POOL_TIMEOUT_S="5",
    )
    with ExitStack() as stack:
        yield [stack.enter_context(ServerProcess(settings, folder)) for _ in range(SERVERS)]


@pytest.fixture
def connections(postgres: PostgresServer, database_name: str) -> Connections:
    return Connections(postgres.database(database_name), LOGIN)


@pytest.fixture
def load(servers: list[ServerProcess]) -> Load:
    return Load([server.url for server in servers])


async def run_watched(load: Load, connections: Connections, seconds: float) -> None:
    """Run the load, and print what happened."""
    done = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connections.watch, done)
        await load.run(CLIENTS, seconds)
        done.set()
    print(
        f"{load.calls} calls in {seconds} s, {len(load.stored)} stored, "
        f"at most {connections.most} connections, refusals: {dict(load.refusals)}"
    )


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.slow)])
async def test_many_clients_of_many_people_get_their_own_and_nothing_else(
    load: Load, connections: Connections, seconds: float
) -> None:
    """C53, C59"""
    await run_watched(load, connections, seconds)
    assert load.leaks == []
    assert load.refusals.keys() <= {BUSY}
    assert 0 < connections.most <= SERVERS * POOL
    assert load.stored
    await load.check_stored()


@pytest.mark.parametrize("seconds", [4, pytest.param(20, marks=pytest.mark.slow)])
async def test_connections_that_are_cut_under_load_lose_nothing_acknowledged(
    load: Load, connections: Connections, servers: list[ServerProcess], seconds: float
) -> None:
    cut: list[int] = []

    async def cut_all_at_every_twentieth(stored: int) -> None:
        if stored % 20 == 0:
            cut.append(await connections.cut())

    load.on_stored = cut_all_at_every_twentieth
    await run_watched(load, connections, seconds)
    print(f"connections cut: {cut}")
    assert any(cut)
    assert load.leaks == []
    assert load.refusals.keys() <= {BUSY, INTERRUPTED}
    assert connections.most <= SERVERS * POOL
    await load.check_stored()
    assert all(server.process.poll() is None for server in servers)


async def test_more_calls_than_connections_wait_for_a_while_and_are_then_told(
    postgres: PostgresServer, database_name: str, load: Load, connections: Connections
) -> None:
    """C59: while the table is locked, the pools' connections wait for it, and everybody else for a connection."""
    answers: list[str] = []
    others_have_answers = anyio.Event()

    async def ask(http: httpx2.AsyncClient, person: int) -> None:
        try:
            await load.call(http, person, "store_context", thread_id="full", source="agent", text=str(person))
            answers.append("stored")
        except Refused as refused:
            answers.append(str(refused))
        if len(answers) == CLIENTS - SERVERS * POOL:
            others_have_answers.set()

    async with (
        load.open_http(CLIENTS) as http,
        await psycopg.AsyncConnection.connect(postgres.database(database_name)) as operator,
    ):
        await operator.execute("lock table pgcontext.entry in access exclusive mode")
        async with anyio.create_task_group() as tasks:
            for number in range(CLIENTS):
                tasks.start_soon(ask, http, number % PEOPLE)
            await others_have_answers.wait()
            assert set(answers) == {BUSY}
            await operator.rollback()
    assert answers[-SERVERS * POOL :] == ["stored"] * SERVERS * POOL
