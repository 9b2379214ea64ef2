"""What is told about each request afterwards: a line in the log, and figures."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from typing import Any

from mcp.server.context import ServerRequestContext
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgcontext.auth.verifier import Caller
from pgcontext.http.gate import CALLER
from pgcontext.http.metrics import Metrics

logger = logging.getLogger(__name__)

_CALL = "pgcontext.call"


class Observer:
    """Remembers which tool a request called, and counts if anybody wants the figures."""

    def __init__(self, metrics: Metrics | None) -> None:
        self.metrics = metrics

    def note_call(
        self, context: ServerRequestContext[Any, Any], tool: str, is_error: bool, seconds: float
    ) -> None:
        """A request called a tool."""
        if context.request is not None:
            context.request.scope[_CALL] = (tool, is_error)
        if self.metrics:
            self.metrics.count_call(tool, is_error, seconds)

    def note_refusal(self, reason: str) -> None:
        """A request was refused for its token."""
        if self.metrics:
            self.metrics.count_refusal(reason)


class RequestLog:
    """Tells of each request when it is answered: never a token, an argument or a text."""

    def __init__(
        self, app: ASGIApp, observer: Observer, paths: Collection[str], quiet_paths: Collection[str]
    ) -> None:
        self._app = app
        self._observer = observer
        self._paths = frozenset(paths)
        self._quiet_paths = frozenset(quiet_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        begin = time.perf_counter()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            self._tell(scope, status, time.perf_counter() - begin)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        if self._observer.metrics:
            self._observer.metrics.count_request(scope["method"], path, status)
        level = logging.DEBUG if path in self._quiet_paths else logging.INFO
        if logger.isEnabledFor(level):
            logger.log(level, "request", extra={"fields": _fields(scope, path, status, seconds)})


def _fields(scope: Scope, path: str, status: int, seconds: float) -> dict[str, Any]:
    fields = {"method": scope["method"], "path": path, "status": status, "ms": round(seconds * 1000, 1)}
    if _CALL in scope:
        tool, is_error = scope[_CALL]
        fields |= {"tool": tool, "outcome": "error" if is_error else "ok"}
    caller = scope.get(CALLER)
    if isinstance(caller, Caller):
        fields |= {"principal": caller.principal.id, "client": caller.client_id}
    return fields
