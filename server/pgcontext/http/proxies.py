"""Requests that come through a proxy, as the client made them."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

_SCHEMES = (b"http", b"https")


class TrustedProxies:
    """Believes `X-Forwarded-Proto` and `X-Forwarded-Host` of these peers, and of nobody else."""

    def __init__(self, app: ASGIApp, networks: Sequence[str]) -> None:
        self._app = app
        self._networks = [ip_network(network) for network in networks]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_trusted(scope.get("client")):
            scope = _as_the_client_asked(scope)
        await self._app(scope, receive, send)

    def _is_trusted(self, peer: Sequence[object] | None) -> bool:
        try:
            address = ip_address(str(peer[0])) if peer else None
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        return address is not None and any(address in network for network in self._networks)


def _as_the_client_asked(scope: Scope) -> Scope:
    asked = dict(scope)
    headers = dict(scope["headers"])
    # each proxy on the way adds its own to the end; the first is what the client asked for
    scheme = headers.get(b"x-forwarded-proto", b"").split(b",")[0].strip().lower()
    host = headers.get(b"x-forwarded-host", b"").split(b",")[0].strip()
    if scheme in _SCHEMES:
        asked["scheme"] = scheme.decode()
    if host:
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        asked["headers"] = [(b"host", host), *others]
    return asked
