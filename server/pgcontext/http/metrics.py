"""Figures for Prometheus. No label holds anything that a caller made up, nor the name of anybody."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgcontext.storage.store import Store

METRICS_PATH = "/metrics"

_METHODS = ("GET", "POST", "DELETE", "OPTIONS", "HEAD")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Counts what one process does."""

    def __init__(self, store: Store) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "pgcontext_http_requests", "Requests answered.", ("method", "path", "status"), registry=self._registry
        )
        self._calls = Histogram(
            "pgcontext_tool_call_seconds",
            "How long tools took.",
            ("tool", "outcome"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._refusals = Counter(
            "pgcontext_tokens_refused", "Requests refused for their token.", ("reason",), registry=self._registry
        )
        self._registry.register(_Connections(store))
        ProcessCollector(registry=self._registry)

    def count_request(self, method: str, path: str, status: int) -> None:
        """A request was answered; `path` is that of a route, or `other`."""
        self._requests.labels(method if method in _METHODS else "other", path, str(status)).inc()

    def count_call(self, tool: str, is_error: bool, seconds: float) -> None:
        """A tool, or `unknown`, was called."""
        self._calls.labels(tool, "error" if is_error else "ok").observe(seconds)

    def count_refusal(self, reason: str) -> None:
        """A token was refused."""
        self._refusals.labels(reason).inc()

    def routes(self) -> list[Route]:
        """Where the figures are shown."""
        return [Route(METRICS_PATH, self._show, methods=["GET"])]

    async def _show(self, _request: Request) -> Response:
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})


class _Connections:
    """The connections to the storage, at the moment of asking."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[GaugeMetricFamily]:
        figures = self._store.connection_metrics()
        for name, meaning, value in (
            ("size", "Connections open.", figures.size),
            ("in_use", "Connections in use.", figures.in_use),
            ("limit", "The most connections there may be.", figures.limit),
            ("waiting", "Calls that wait for a connection.", figures.waiting),
        ):
            yield GaugeMetricFamily(f"pgcontext_storage_connections_{name}", meaning, value)
