"""Whether the server lives, and whether it can serve."""

from __future__ import annotations

import logging
import time

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pgcontext.principal import Principal
from pgcontext.storage.store import Store

logger = logging.getLogger(__name__)

LIVE_PATH = "/healthz"
READY_PATH = "/readyz"

_PATIENCE_SECONDS = 5.0
_VALID_SECONDS = 1.0


class Health:
    """`/healthz` answers while the process does; `/readyz` asks the store, once a second at most."""

    def __init__(self, store: Store, principal: Principal) -> None:
        self._store = store
        self._principal = principal
        self._turn = anyio.Lock()
        self._is_ready = False
        self._asked_at = float("-inf")

    def routes(self) -> list[Route]:
        """Both paths."""
        return [
            Route(LIVE_PATH, self._show_live, methods=["GET"]),
            Route(READY_PATH, self._show_ready, methods=["GET"]),
        ]

    async def _show_live(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _show_ready(self, _request: Request) -> Response:
        async with self._turn:
            if time.monotonic() - self._asked_at > _VALID_SECONDS:
                self._is_ready = await self._ask()
                self._asked_at = time.monotonic()
        if self._is_ready:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "the storage does not answer"}, 503)

    async def _ask(self) -> bool:
        """Go the whole way of a call that reads nothing."""
        try:
            with anyio.fail_after(_PATIENCE_SECONDS):
                await self._store.get_entries(self._principal, ())
        except Exception as error:
            logger.warning("not ready: %s", str(error) or type(error).__name__)
            return False
        return True
