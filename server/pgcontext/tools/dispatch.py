"""From a call of the protocol to a tool, and back to a result of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from mcp_types import ListToolsResult, ToolAnnotations
from mcp_types import Tool as ToolDescription
from pydantic_core import to_json

from pgcontext.contracts.limits import Limits
from pgcontext.contracts.schema import plain_response_schema, plain_schema
from pgcontext.errors import PgcontextError, ReadOnlyPrincipal
from pgcontext.generation.generators import Generators
from pgcontext.principal import Principal
from pgcontext.settings import Settings
from pgcontext.storage.store import Store
from pgcontext.text.characters import printable, shown
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.registry import enabled_tools

logger = logging.getLogger(__name__)


def describe_tool(tool: Tool[Any]) -> ToolDescription:
    """The tool as `tools/list` shows it."""
    return ToolDescription(
        name=tool.name,
        description=tool.description,
        input_schema=plain_schema(tool.request),
        output_schema=plain_response_schema(tool.response),
        annotations=ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_idempotent or not tool.writes,
            open_world_hint=False,
        ),
    )


class Toolbox:
    """The tools that one deployment offers."""

    def __init__(self, settings: Settings, store: Store, generators: Generators) -> None:
        """Raises `StartRefused` when DISABLED_TOOLS names a tool that does not exist."""
        self._settings = settings
        self._store = store
        self._generators = generators
        self._limits = Limits(
            max_image_bytes=settings.max_image_size_mb * 2**20,
            max_total_bytes=settings.max_total_size_mb * 2**20,
            indexed_fields=settings.metadata_indexed_fields,
        )
        tools = enabled_tools(settings.disabled_tools, settings.features_off())
        self._tools = {tool.name: tool for tool in tools}
        self.names = frozenset(self._tools)
        self.descriptions = ListToolsResult(tools=[describe_tool(tool) for tool in self._tools.values()])

    async def call(self, caller: Principal, name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Run a tool: a `CallToolResult` as it goes over the wire.

        Whatever goes wrong is a tool error, so that the agent reads it.
        """
        try:
            result = await self._run(caller, name, arguments or {})
        except PgcontextError as error:
            return _failure(str(error))
        except Exception:
            logger.exception("%s failed", name)
            return _failure(f"{name} failed on the server; its log has the details")
        return _result(to_json(result).decode()) | {"structuredContent": result}

    async def _run(self, caller: Principal, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        tool = self._tools.get(name)
        if tool is None:
            raise PgcontextError(f"There is no tool called {shown(name)}")
        if tool.writes and caller.id == self._settings.access_control_anonymous_principal:
            raise ReadOnlyPrincipal(name)
        context = ToolContext(self._store, caller, self._settings, self._limits, self._generators)
        return await tool.call(context, arguments)


def _result(text: str) -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": text}], "isError": False}


def _failure(message: str) -> dict[str, Any]:
    return _result(printable(message)) | {"isError": True}
