"""Who is let in: the names under which the server may be addressed, and the token of each request."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pgcontext.auth.verifier import Caller, KeysUnavailable, TokenRefused, Verifier
from pgcontext.errors import NoPrincipal
from pgcontext.http.resource import ProtectedResource
from pgcontext.principal import Principal

logger = logging.getLogger(__name__)

CALLER = "pgcontext.caller"
"""Where a request's scope holds the `Caller`."""

_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_RETRY_SECONDS = "5"


def principal_of_request(context: ServerRequestContext[Any, Any]) -> Principal:
    """The principal whose token the request carried; raises `NoPrincipal` when no gate let it in."""
    caller = context.request.scope.get(CALLER) if context.request is not None else None
    if not isinstance(caller, Caller):
        raise NoPrincipal
    return caller.principal


class Gate:
    """Lets a request pass to the application, or answers it itself.

    Every path needs a token except those in `open_paths`, so that a path that is spelt in an unforeseen way is
    closed. What `unguarded_paths` show may be asked for under any name of the server.
    """

    def __init__(
        self,
        app: ASGIApp,
        security: TransportSecuritySettings,
        resource: ProtectedResource,
        verifier: Verifier | None,
        open_paths: Collection[str],
        unguarded_paths: Collection[str],
        refused: Callable[[str], None],
    ) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)
        self._resource = resource
        self._verifier = verifier
        self._open_paths = frozenset(open_paths)
        self._unguarded_paths = frozenset(unguarded_paths)
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            answer = await self._answer(scope)
            await (answer or self._app)(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response | None:
        """The answer to a request that is not let in."""
        if scope["path"] in self._unguarded_paths:
            return None
        if answer := await self._check_names(scope):
            return answer
        if self._verifier is None or scope["path"] in self._open_paths:
            return None
        return await self._check_token(scope, self._verifier)

    async def _check_names(self, scope: Scope) -> Response | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return Response("Invalid Host header", status_code=421)
        return await self._security.validate_request(Request(scope))

    async def _check_token(self, scope: Scope, verifier: Verifier) -> Response | None:
        try:
            caller = await verifier.verify(_bearer_token(scope))
        except TokenRefused as refused:
            self._refused(refused.reason)
            if refused.reason == "missing":
                return self._resource.refusal(scope, 401, None, "A token is required")
            logger.info("token refused: %s", refused)
            words = "The token has expired" if refused.reason == "expired" else "The token is not valid here"
            return self._resource.refusal(scope, 401, "invalid_token", words)
        except KeysUnavailable:
            self._refused("keys_unavailable")
            words = "Tokens cannot be checked at the moment"
            return JSONResponse(
                {"error": "temporarily_unavailable", "error_description": words},
                503,
                {"Retry-After": _RETRY_SECONDS},
            )
        if missing := self._resource.missing_scopes(caller.scopes):
            self._refused("insufficient_scope")
            words = f"The token lacks the scope {' '.join(missing)}"
            return self._resource.refusal(scope, 403, "insufficient_scope", words)
        scope[CALLER] = caller
        return None


def _bearer_token(scope: Scope) -> str:
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    if not values:
        raise TokenRefused("missing", "the request has no token")
    if len(values) > 1:
        raise TokenRefused("malformed", "the request has several Authorization headers")
    scheme, _, token = values[0].decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenRefused("missing", "the request has no bearer token")
    return str(token.strip())
