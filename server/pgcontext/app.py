"""The composition root: settings, store and tools become a server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, ListToolsResult, PaginatedRequestParams

from pgcontext import __version__
from pgcontext.generation.generators import Generators, create_generators
from pgcontext.principal import Principal
from pgcontext.settings import Settings
from pgcontext.storage.store import Store
from pgcontext.tools.dispatch import Toolbox

INSTRUCTIONS = (
    "Shared memory for agents. Store what others or you will need later: decisions, results, plans, findings; "
    "use one thread per task or conversation. Before you start on something, search for what is known about it. "
    "Searches show the beginning of each text; read whole entries by id. "
    "You see your own entries, public ones, and those shared with you."
)

Context = ServerRequestContext[Any, Any]
PrincipalResolver = Callable[[Context], Principal]
"""Who makes a request."""
CallObserver = Callable[[Context, str, bool, float], None]
"""Is told of each call of a tool: its name or `unknown`, whether it was an error, the seconds it took."""

_NO_HEADERS: dict[str, Any] = {"type": "object"}
_TOOL_LIST_FRESHNESS = CacheHint(ttl_ms=300_000, scope="public")


def create_store(settings: Settings) -> Store:
    """The backend that the settings choose, not yet open."""
    if settings.storage_backend == "postgresql":
        from pgcontext.storage.postgres.store import PostgresStore

        return PostgresStore(settings.postgres_options())
    from pgcontext.storage.sqlite.store import SqliteStore

    path = settings.db_path.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    return SqliteStore(
        path,
        settings.access_policy(),
        indexed_fields=settings.metadata_indexed_fields,
        index_sync_mode=settings.metadata_index_sync_mode,
        language=settings.fts_language,
        word_ranking=settings.fts_ranking,
    )


def create_server(
    settings: Settings,
    store: Store,
    resolve_principal: PrincipalResolver | None = None,
    observe_call: CallObserver | None = None,
    generators: Generators | None = None,
) -> Server[None]:
    """The MCP server over a store, which it opens and closes, as it does the generators.

    Without `resolve_principal` every call is made by ACCESS_CONTROL_DEFAULT_PRINCIPAL; without `generators` the
    settings choose them. Raises `StartRefused` when DISABLED_TOOLS names a tool that does not exist.
    """
    generators = generators or create_generators(settings)
    toolbox = Toolbox(settings, store, generators)
    default_principal = Principal(settings.access_control_default_principal)

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return toolbox.descriptions

    async def call_tool(context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        caller = resolve_principal(context) if resolve_principal else default_principal
        begin = time.perf_counter()
        result = await toolbox.call(caller, params.name, params.arguments)
        if observe_call:
            name = params.name if params.name in toolbox.names else "unknown"
            observe_call(context, name, result["isError"], time.perf_counter() - begin)
        return result

    server = Server(
        "pgcontext",
        version=__version__,
        instructions=settings.mcp_server_instructions or INSTRUCTIONS,
        lifespan=_Lifespan(store, generators),
        on_list_tools=list_tools,
        # the SDK asks before each call, to compare headers with arguments; no argument of ours is mapped to one
        get_tool_input_schema=lambda _name: _NO_HEADERS,
        cache_hints={"tools/list": _TOOL_LIST_FRESHNESS},
    )
    # not by the constructor, which wants a model: that would be copied once more on its way out
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    return server


class _Lifespan:
    """Opens the store and the generators for the first connection of a server and closes them after the last.

    Over HTTP and stdio there is one; connections in memory may overlap.
    """

    def __init__(self, store: Store, generators: Generators) -> None:
        self._store = store
        self._generators = generators
        self._users = 0
        self._turn = anyio.Lock()

    @asynccontextmanager
    async def __call__(self, _server: Server[None]) -> AsyncIterator[None]:
        async with self._turn:
            if self._users == 0:
                await self._open()
            self._users += 1
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                async with self._turn:
                    self._users -= 1
                    if self._users == 0:
                        await self._close()

    async def _open(self) -> None:
        try:
            await self._store.open()
            await self._generators.open()
        except BaseException:
            await self._close()
            raise

    async def _close(self) -> None:
        await self._generators.close()
        await self._store.close()
