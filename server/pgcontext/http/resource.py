"""The server as a protected resource: where it says which issuer's tokens it takes (RFC 9728, RFC 6750)."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from pgcontext.settings import Settings

HTTP_PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"


class ProtectedResource:
    """What the server says about itself to those who have no token yet."""

    def __init__(self, settings: Settings) -> None:
        self._public_url = settings.mcp_public_url
        self._issuer = settings.mcp_auth_jwt_issuer if settings.mcp_auth_provider == "jwt" else None
        self._scopes = settings.mcp_auth_jwt_required_scopes
        public_path = urlsplit(self._public_url).path if self._public_url else HTTP_PATH
        self.paths = tuple(dict.fromkeys([METADATA_PATH, METADATA_PATH + HTTP_PATH, METADATA_PATH + public_path]))

    def routes(self) -> list[Route]:
        """The metadata at the root and below the path of the server."""
        return [Route(path, self._show, methods=["GET"]) for path in self.paths]

    async def _show(self, request: Request) -> Response:
        metadata: dict[str, object] = {
            "resource": self._url(request.scope),
            "resource_name": "pgcontext",
            "bearer_methods_supported": ["header"],
        }
        if self._issuer is not None:
            metadata["authorization_servers"] = [self._issuer]
        if self._scopes:
            metadata["scopes_supported"] = list(self._scopes)
        return JSONResponse(metadata, headers={"Cache-Control": "no-store"})

    def refusal(self, scope: Scope, status: int, error: str | None, description: str) -> Response:
        """The answer to a request whose token does not do; `error` is None when it had none."""
        parts = urlsplit(self._url(scope))
        parameters = {"resource_metadata": f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path}"}
        if error is not None:
            parameters |= {"error": error, "error_description": description}
        if self._scopes:
            parameters["scope"] = " ".join(self._scopes)
        challenge = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
        return JSONResponse(
            {"error": error or "unauthorized", "error_description": description},
            status,
            {"WWW-Authenticate": f"Bearer {challenge}"},
        )

    def missing_scopes(self, scopes: frozenset[str]) -> Sequence[str]:
        """Which of the scopes that every token must carry are not among these."""
        return [scope for scope in self._scopes if scope not in scopes]

    def _url(self, scope: Scope) -> str:
        if self._public_url is not None:
            return self._public_url
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        return f"{scope['scheme']}://{host}{HTTP_PATH}"
