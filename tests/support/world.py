"""A server to call as anybody, and what it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mcp import Client
from mcp.server.context import ServerRequestContext
from mcp.types import CallToolResult

from pgcontext.app import create_server
from pgcontext.generation.generators import Generators
from pgcontext.principal import Principal
from pgcontext.settings import Settings
from pgcontext.storage.store import Store
from support.generators import bag_of_words

T = TypeVar("T")
_CALLER = "test.pgcontext/caller"


class ToolRefused(Exception):
    """A tool answered with an error; `str()` is its text."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who calls tools: `await alice.store_context(thread_id="t", source="user", text="hello")`."""

    principal: Principal
    _client: Client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """The raw result of a tool."""
        return await self._client.call_tool(tool, arguments, meta={_CALLER: _identity(self.principal)})

    def __getattr__(self, tool: str) -> Callable[..., Awaitable[dict[str, Any]]]:
        if tool.startswith("_"):
            raise AttributeError(tool)

        async def call(**arguments: Any) -> dict[str, Any]:
            result = await self.call(tool, **arguments)
            text = result.content[0].text  # type: ignore[union-attr]
            if result.is_error:
                raise ToolRefused(text)
            assert result.structured_content == json.loads(text)
            return result.structured_content  # type: ignore[return-value]

        return call

    async def store(self, text: str, **arguments: Any) -> str:
        """Store a text in thread `t` as an agent, unless told otherwise; the new entry's id."""
        arguments = {"thread_id": "t", "source": "agent"} | arguments
        return str((await self.store_context(text=text, **arguments))["context_id"])

    async def search(self, **arguments: Any) -> list[str]:
        """The ids that search_context finds."""
        return [entry["id"] for entry in (await self.search_context(**arguments))["results"]]

    async def get(self, *entry_ids: str) -> list[dict[str, Any]]:
        """The entries with these ids."""
        return list((await self.get_context_by_ids(context_ids=list(entry_ids)))["results"])


@dataclass(frozen=True, slots=True)
class World:
    """A server over one store, which can be called as any principal."""

    store: Store
    client: Client
    settings: Settings
    people: dict[Principal, Person] = field(default_factory=dict)

    def as_(self, name: str, *, groups: tuple[str, ...] = (), roles: tuple[str, ...] = ()) -> Person:
        """The person of this name."""
        principal = Principal(name, groups, roles)
        return self.people.setdefault(principal, Person(principal, self.client))


def caller_of_request(context: ServerRequestContext) -> Principal:
    """The principal that a `Person` put into the request; the test hook in place of a token."""
    identity = (context.meta or {}).get(_CALLER)
    if identity is None:
        return Principal("local")
    return Principal(identity["id"], tuple(identity["groups"]), tuple(identity["roles"]))


def _identity(principal: Principal) -> dict[str, Any]:
    return {"id": principal.id, "groups": list(principal.groups), "roles": list(principal.roles)}


@asynccontextmanager
async def serving(
    settings: Settings, store: Store, *, mode: str = "auto", generators: Generators | None = None
) -> AsyncIterator[World]:
    """A server over the store with a client in memory, usable from any task of this loop.

    Unless told otherwise it embeds with a model that costs next to nothing.
    """
    server = create_server(settings, store, caller_of_request, generators=generators or bag_of_words(settings))
    async with in_own_task(Client(server, mode=mode)) as client:
        yield World(store, client, settings)


@asynccontextmanager
async def in_own_task(manager: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter and leave a context manager in one task of its own, as cancel scopes demand; fixtures may not."""
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def hold() -> None:
        try:
            async with manager as value:
                entered.set_result(value)
                await leave.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(error)

    task = asyncio.create_task(hold())
    try:
        yield await entered
    finally:
        leave.set()
        await task
