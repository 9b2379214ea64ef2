"""Many clients with tokens of many people at several servers on one database."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import anyio
import httpx2
import psycopg

from support.issuer import token

BUSY = "The storage is busy; nothing was written. Try again in a moment"
INTERRUPTED = (
    "The connection to the database broke; whether the change was stored is unknown. Read before you repeat it"
)
PEOPLE = 20
TEAMS = 4

_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}
_SAMPLE_SECONDS = 0.1


def team_of(person: int) -> str:
    """Everybody reads what their team writes, and nothing else."""
    return f"team-{person % TEAMS}"


class Refused(Exception):
    """A tool answered with an error; `str()` is its text."""


async def _go_on(_stored: int) -> None:
    pass


@dataclass
class Load:
    """What the clients do, and what came of it."""

    urls: Sequence[str]
    on_stored: Callable[[int], Awaitable[None]] = _go_on
    """Is told how many stores have been acknowledged so far."""
    tokens: list[str] = field(
        default_factory=lambda: [token(f"person-{n}", exp=2**33, groups=[team_of(n)]) for n in range(PEOPLE)]
    )
    stored: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Author and text of every store that was acknowledged, by id."""
    refusals: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    leaks: list[str] = field(default_factory=list)
    _numbers: Any = field(default_factory=count)

    async def run(self, clients: int, seconds: float) -> None:
        """Let every client make one call after the other for so long."""
        async with self.open_http(clients) as http, anyio.create_task_group() as tasks:
            deadline = anyio.current_time() + seconds
            for number in range(clients):
                tasks.start_soon(self._client, http, number, deadline)

    async def check_stored(self) -> None:
        """Every acknowledged store is there, and its author's team reads it."""
        async with self.open_http(1) as http:
            for person in range(PEOPLE):
                own = {entry: text for entry, (author, text) in self.stored.items() if author == person}
                reader = (person + TEAMS) % PEOPLE
                for ids in _slices(list(own), 100):
                    found = await self.call(http, reader, "get_context_by_ids", context_ids=ids)
                    texts = {entry["id"]: entry["text_content"] for entry in found["results"]}
                    assert texts == {entry: own[entry] for entry in ids}

    async def call(self, http: httpx2.AsyncClient, person: int, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers to this person; raises `Refused`."""
        number = next(self._numbers)
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        response = await http.post(
            self.urls[number % len(self.urls)],
            content=json.dumps(message),
            headers=_HEADERS | {"Authorization": f"Bearer {self.tokens[person]}"},
        )
        assert response.status_code == 200, response.text
        answer = response.json()
        assert answer["id"] == number
        self.calls += 1
        if answer["result"]["isError"]:
            raise Refused(answer["result"]["content"][0]["text"])
        return dict(answer["result"]["structuredContent"])

    def open_http(self, clients: int) -> httpx2.AsyncClient:
        """Connections for so many clients."""
        limits = httpx2.Limits(max_connections=clients, max_keepalive_connections=clients)
        return httpx2.AsyncClient(timeout=120, limits=limits)

    async def _client(self, http: httpx2.AsyncClient, number: int, deadline: float) -> None:
        person = number % PEOPLE
        chance = random.Random(number)
        while anyio.current_time() < deadline:
            try:
                await self._act(http, person, chance)
            except Refused as refused:
                self.refusals[str(refused)] += 1

    async def _act(self, http: httpx2.AsyncClient, person: int, chance: random.Random) -> None:
        action = chance.choice([self._store, self._search, self._read, self._count])
        await action(http, person, chance)

    async def _store(self, http: httpx2.AsyncClient, person: int, _chance: random.Random) -> None:
        text = f"{team_of(person)} person-{person} note {next(self._numbers)}"
        stored = await self.call(
            http,
            person,
            "store_context",
            thread_id=team_of(person),
            source="agent",
            text=text,
            tags=[team_of(person)],
        )
        self.stored[stored["context_id"]] = (person, text)
        await self.on_stored(len(self.stored))

    async def _search(self, http: httpx2.AsyncClient, person: int, _chance: random.Random) -> None:
        found = await self.call(http, person, "search_context", limit=20)
        self._watch(person, found["results"])

    async def _read(self, http: httpx2.AsyncClient, person: int, chance: random.Random) -> None:
        known = list(self.stored)
        if known:
            ids = chance.choices(known, k=5)
            found = await self.call(http, person, "get_context_by_ids", context_ids=ids)
            self._watch(person, found["results"])
            expected = {entry for entry in ids if team_of(self.stored[entry][0]) == team_of(person)}
            assert {entry["id"] for entry in found["results"]} == expected

    async def _count(self, http: httpx2.AsyncClient, person: int, _chance: random.Random) -> None:
        found = await self.call(http, person, "list_threads")
        self.leaks += [t["thread_id"] for t in found["threads"] if t["thread_id"] != team_of(person)]

    def _watch(self, person: int, entries: Sequence[dict[str, Any]]) -> None:
        for entry in entries:
            team, author, *_ = entry["text_content"].split()
            if team != team_of(person) or entry["is_owner"] != (author == f"person-{person}"):
                self.leaks.append(f"person-{person} got {entry}")


class Connections:
    """The connections of one login to one database, as a superuser sees them."""

    def __init__(self, dsn: str, login: str) -> None:
        self._dsn = dsn
        self._login = login
        self.most = 0

    async def watch(self, done: anyio.Event) -> None:
        """Note the most there are at a time."""
        async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True) as connection:
            while not done.is_set():
                self.most = max(self.most, await self._number(connection))
                with anyio.move_on_after(_SAMPLE_SECONDS):
                    await done.wait()

    async def cut(self) -> int:
        """End all of them; how many there were."""
        async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True) as connection:
            cursor = await connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where usename = %s and datname = current_database()",
                (self._login,),
            )
            return len(await cursor.fetchall())

    async def _number(self, connection: psycopg.AsyncConnection[Any]) -> int:
        cursor = await connection.execute(
            "select count(*) from pg_stat_activity where usename = %s and datname = current_database()",
            (self._login,),
        )
        row = await cursor.fetchone()
        return int(row[0]) if row else 0


def _slices(items: Sequence[str], size: int) -> list[list[str]]:
    return [list(items[begin : begin + size]) for begin in range(0, len(items), size)]
