"""Empty storages for programs that run outside of pytest."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.processes import COMMAND, environment, on_postgres
from tests.support.postgres import LOGIN, OWNER, running_server

BACKENDS = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Storage:
    """The settings of a server on a storage; `dsn` connects to its PostgreSQL database as a superuser."""

    settings: dict[str, str]
    dsn: str | None = None


@contextmanager
def empty_storage(backend: str, folder: Path) -> Iterator[Storage]:
    """A storage of this kind; the PostgreSQL server is the one that the tests would take."""
    if backend == "sqlite":
        yield Storage({"STORAGE_BACKEND": "sqlite", "DB_PATH": str(folder / "pgcontext.db")})
        return
    with running_server() as postgres:
        name = postgres.create_database()
        try:
            owner = environment(on_postgres(postgres.database(name, OWNER)))
            command = [*COMMAND, "migrate"]
            subprocess.run(command, env=owner, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            yield Storage(on_postgres(postgres.database(name, LOGIN)), postgres.database(name))
        finally:
            postgres.drop_database(name)
