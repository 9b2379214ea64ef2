"""The ASGI application: the protocol at one path, and around it what a server on a network needs."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware

from pgcontext.auth.verifier import Verifier
from pgcontext.http.gate import Gate
from pgcontext.http.health import LIVE_PATH, READY_PATH, Health
from pgcontext.http.metrics import METRICS_PATH
from pgcontext.http.observing import Observer, RequestLog
from pgcontext.http.proxies import TrustedProxies
from pgcontext.http.resource import HTTP_PATH, ProtectedResource
from pgcontext.principal import Principal
from pgcontext.settings import Settings
from pgcontext.storage.store import Store

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def create_http_app(
    settings: Settings, server: Server[Any], store: Store, verifier: Verifier | None, observer: Observer
) -> Starlette:
    """The server as an ASGI application that answers at `HTTP_PATH`, without sessions.

    With a verifier every request needs a token, except those for health, metrics and the metadata that says where
    tokens come from; the server must then be one that takes its callers from `principal_of_request`.
    """
    security = transport_security(settings)
    resource = ProtectedResource(settings)
    health = Health(store, Principal(settings.access_control_default_principal))
    health_paths = (LIVE_PATH, READY_PATH)
    open_paths = (*resource.paths, METRICS_PATH) if verifier else (METRICS_PATH,)
    routes = [*health.routes()]
    if verifier:
        routes += resource.routes()
    if observer.metrics:
        routes += observer.metrics.routes()
    app = server.streamable_http_app(
        streamable_http_path=HTTP_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.max_total_size_mb * 2**20,
        # the gate has compared the names already, for every path
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=routes,
    )
    # the last one added meets a request first
    app.add_middleware(
        Gate,
        security=security,
        resource=resource,
        verifier=verifier,
        open_paths=open_paths,
        unguarded_paths=health_paths,
        refused=observer.note_refusal,
    )
    app.add_middleware(
        CORSMiddleware,
        allow_origin_regex=_origin_pattern(security),
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=("*",),
        expose_headers=("WWW-Authenticate",),
    )
    app.add_middleware(
        RequestLog,
        observer=observer,
        paths=(HTTP_PATH, *open_paths, *health_paths),
        quiet_paths=(METRICS_PATH, *health_paths),
    )
    app.add_middleware(TrustedProxies, networks=settings.mcp_trusted_proxies)
    return app


def transport_security(settings: Settings) -> TransportSecuritySettings:
    """The Host and Origin headers that are accepted: a web page must not reach the server under another name."""
    local = list(dict.fromkeys([*_LOOPBACK, _bracketed(settings.mcp_http_host)]))
    hosts = [*local, *settings.mcp_allowed_hosts]
    origins = [*(f"http://{host}" for host in local), *settings.mcp_allowed_origins]
    if settings.mcp_public_url is not None:
        public = urlsplit(settings.mcp_public_url)
        hosts.append(public.netloc)
        origins.append(f"{public.scheme}://{public.netloc}")
    return TransportSecuritySettings(
        allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
        allowed_origins=[*origins, *(f"http://{host}:*" for host in local)],
    )


def _origin_pattern(security: TransportSecuritySettings) -> str:
    """The origins that are accepted as a regular expression, so that browsers let their pages read the answers."""
    return "|".join(re.escape(origin).replace(r":\*", ":[0-9]+") for origin in security.allowed_origins)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
