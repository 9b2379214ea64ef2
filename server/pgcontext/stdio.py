"""Serving one client over stdin and stdout."""

from __future__ import annotations

import json
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCRequest
from pydantic import ValidationError

Item = SessionMessage | Exception


async def serve_stdio(server: Server[Any]) -> None:
    """Serve until stdin ends; stdout carries nothing but JSON-RPC."""
    async with stdio_server() as (lines, replies), anyio.create_task_group() as tasks:
        send, receive = anyio.create_memory_object_stream[Item](0)
        tasks.start_soon(_relay, lines, send, replies)
        await server.run(receive, replies, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _relay(
    lines: ReadStream[Item], server: MemoryObjectSendStream[Item], replies: WriteStream[SessionMessage]
) -> None:
    """Pass messages on, and answer the lines that the SDK could not read and would drop without a word."""
    async with server:
        async for item in lines:
            if isinstance(item, SessionMessage):
                await server.send(item)
            elif request := _second_reading(item):
                await server.send(request)
            else:
                await replies.send(_parse_error())


def _second_reading(error: Exception) -> SessionMessage | None:
    """The request of a line that holds lone surrogates, which only the lenient parser lets through.

    It goes on to the tool, whose answer names the parameter.
    """
    if not isinstance(error, ValidationError):
        return None
    try:
        document = json.loads(error.errors(include_url=False)[0]["input"])
        request = JSONRPCRequest.model_validate(document)
        # what an answer would repeat must be printable
        f"{request.id}{request.method}".encode()
        return SessionMessage(request)
    except (ValueError, TypeError, RecursionError):
        return None


def _parse_error() -> SessionMessage:
    return SessionMessage(
        JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="Not a JSON-RPC message"))
    )
