"""The real server as a process of its own, and how to talk to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pgcontext.settings import Settings

COMMAND = (sys.executable, "-m", "pgcontext")
JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_LISTENING = re.compile(r"pgcontext listens on (http://\S+:(\d+)/\S*)")
_START_SECONDS = 60
_STOP_SECONDS = 30


class ServerFailed(Exception):
    """A server did not come up; `str()` is what it said on stderr."""


class ToolFailed(Exception):
    """A tool answered with an error; `str()` is its text."""


def on_postgres(conninfo: str) -> dict[str, str]:
    """The settings of a server on this database."""
    return {"STORAGE_BACKEND": "postgresql", "POSTGRESQL_CONNECTION_STRING": conninfo}


WITH_MODEL = {"EMBEDDING_PROVIDER": "builtin"}
WITHOUT_MODEL = {"EMBEDDING_PROVIDER": "none"}


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that has these settings and none of pgcontext's from outside.

    Unless told otherwise it embeds nothing, which makes it ready sooner.
    """
    ours = {name.upper() for name in Settings.model_fields}
    kept = {name: value for name, value in os.environ.items() if name.upper() not in ours}
    return kept | WITHOUT_MODEL | dict(settings)


class ServerProcess:
    """A server over HTTP on 127.0.0.1, started at once in `folder`; kill it, or use it as a context manager.

    As a context manager it is waited for at the beginning and killed in the end.
    """

    url: str
    port: int

    def __init__(self, settings: Mapping[str, str], folder: Path, port: int = 0) -> None:
        self._log = folder / f"server-{time.monotonic_ns()}.log"
        with self._log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [*COMMAND, "serve", "--port", str(port)],
                env=environment(settings),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )

    def said(self) -> str:
        """What the server has written to stderr so far."""
        return self._log.read_text(encoding="utf-8")

    def wait_until_listening(self) -> Self:
        """Returns when `url` answers; raises `ServerFailed` when the server ends or takes too long."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            if found := _LISTENING.search(self.said()):
                self.url, self.port = found[1], int(found[2])
                return self
            if ended:
                raise ServerFailed(self.said())
            time.sleep(0.02)
        raise ServerFailed(f"does not listen after {_START_SECONDS} s: {self.said()}")

    def stop(self) -> int:
        """Ask the server to end, as a service manager does; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_STOP_SECONDS)

    def kill(self) -> None:
        """End the server at once, if it still runs."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        try:
            return self.wait_until_listening()
        except BaseException:
            self.kill()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def post(self, body: bytes | Iterable[bytes], **headers: str) -> tuple[int, bytes]:
        """Status and body of the answer to one plain HTTP request; an iterable is sent in chunks."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", "/mcp", body, JSON_HEADERS | headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


Start = Callable[..., ServerProcess]
"""Starts a server with the given settings, and maybe port, without waiting for it."""


@asynccontextmanager
async def client_of(url: str, token: str, era: str = "auto") -> AsyncIterator[Client]:
    """The official client, which sends a token with every request."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
        Client(streamable_http_client(url, http_client=http_client), mode=era) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool returns, having checked that text and structured content agree; raises `ToolFailed`."""
    result = await client.call_tool(tool, arguments)
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        raise ToolFailed(text)
    assert result.structured_content == json.loads(text)
    return dict(result.structured_content)
