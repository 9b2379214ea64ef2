"""Servers to talk to: their settings per backend, and a way to start them that cleans up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.processes import ServerProcess, Start, on_postgres
from support.postgres import LOGIN, PostgresServer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's servers run and write their logs."""
    return tmp_path_factory.mktemp("e2e")


@pytest.fixture(scope="module", params=("sqlite", "postgresql"))
def backend(request: pytest.FixtureRequest) -> str:
    """The backend that a test runs on."""
    return str(request.param)


@pytest.fixture(scope="module")
def storage(request: pytest.FixtureRequest, backend: str, folder: Path) -> dict[str, str]:
    """The settings of this module's storage, which is empty at first."""
    if backend == "sqlite":
        return {"STORAGE_BACKEND": "sqlite", "DB_PATH": str(folder / "e2e.db")}
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return on_postgres(postgres.database(request.getfixturevalue("database")(), LOGIN))


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Starts a server process without waiting for it; killed after the test."""
    started: list[ServerProcess] = []

    def start(settings: dict[str, str], port: int = 0) -> ServerProcess:
        started.append(ServerProcess(settings, folder, port))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture(scope="module")
def server(storage: dict[str, str], folder: Path) -> Iterator[ServerProcess]:
    """One server for a module's tests of a backend."""
    with ServerProcess(storage, folder) as server:
        yield server
