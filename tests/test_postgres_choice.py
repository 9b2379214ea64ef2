"""Which PostgreSQL the tests run on, and that a Docker engine is used wherever one answers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import psycopg
import pytest

from support import postgres as module
from support.postgres import PostgresServer, choose_provider, docker_answers, running_server

DSN = "postgresql://somebody@db.example/tests"


@pytest.mark.parametrize(
    "environment, engine, provider",
    [
        ({}, True, "container"),
        ({}, False, "embedded"),
        ({"PGCONTEXT_TEST_POSTGRES": "15"}, True, "container"),
        ({"PGCONTEXT_TEST_POSTGRES": "15"}, False, "embedded"),
        ({"PGCONTEXT_TEST_DSN": DSN}, True, "dsn"),
        ({"PGCONTEXT_TEST_DSN": DSN}, False, "dsn"),
        ({"PGCONTEXT_TEST_DSN": ""}, True, "container"),
    ],
)
def test_choice(environment: dict[str, str], engine: bool, provider: str) -> None:
    assert choose_provider(environment, lambda: engine) == provider


class Engine(BaseHTTPRequestHandler):
    """As much of a Docker engine as it takes to say that there is one."""

    def do_GET(self) -> None:
        body = b"OK" if self.path.endswith("/_ping") else b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Stay silent."""


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment whose Docker engine does not answer, and that names no server."""
    monkeypatch.delenv("PGCONTEXT_TEST_DSN", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")


@pytest.fixture
def engine(no_engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment whose Docker engine answers."""
    with HTTPServer(("127.0.0.1", 0), Engine) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        yield
        server.shutdown()
        thread.join()


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the three ways to a server; the list says which was taken."""
    ways: list[str] = []

    def way(name: str) -> None:
        @contextmanager
        def provide() -> Iterator[str]:
            ways.append(name)
            yield DSN

        monkeypatch.setattr(module, name, provide)

    for name in ("_given", "_container", "_embedded"):
        way(name)
    monkeypatch.setattr(PostgresServer, "create_logins", lambda _server: None)
    return ways


def test_container_where_an_engine_answers(engine: None, taken: list[str]) -> None:
    assert docker_answers()
    with running_server() as server:
        assert server.provider == "container"
    assert taken == ["_container"]


def test_wheel_where_no_engine_answers(no_engine: None, taken: list[str]) -> None:
    assert not docker_answers()
    with running_server() as server:
        assert server.provider == "embedded"
    assert taken == ["_embedded"]


def test_given_server_before_an_engine(engine: None, taken: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONTEXT_TEST_DSN", DSN)
    with running_server() as server:
        assert server.provider == "dsn"
    assert taken == ["_given"]


@pytest.mark.parametrize("version", ["15", "18"])
def test_container_is_of_the_version_asked_for(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    images: list[str] = []

    class Container:
        def __init__(self, image: str, **_options: object) -> None:
            images.append(image)

        def __enter__(self) -> Container:
            return self

        def __exit__(self, *_error: object) -> None: ...

        def get_connection_url(self) -> str:
            return DSN

    monkeypatch.setattr("testcontainers.community.postgres.PostgresContainer", Container)
    monkeypatch.setenv("PGCONTEXT_TEST_POSTGRES", version)
    with module._container() as dsn:
        assert dsn == DSN
    assert images == [f"pgvector/pgvector:pg{version}"]


def test_this_run_took_the_way_it_should(postgres: PostgresServer) -> None:
    """On a machine with a Docker engine, this whole run is on a container of the version asked for."""
    assert postgres.provider == choose_provider(os.environ, docker_answers)
    with psycopg.connect(postgres.dsn) as connection:
        major = connection.info.server_version // 10000
    if postgres.provider == "container":
        assert str(major) == os.environ.get("PGCONTEXT_TEST_POSTGRES", "18")
    assert major >= 15
