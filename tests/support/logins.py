"""Logins of people, and a store that calls the stored functions as them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import sql

from pgcontext.principal import Principal
from pgcontext.storage.postgres.store import PostgresStore, _translate
from support.postgres import PASSWORD, PostgresServer

T = TypeVar("T")


@contextmanager
def person_login(
    server: PostgresServer,
    database: str,
    login: str,
    principal: str,
    groups: tuple[str, ...] = (),
    roles: tuple[str, ...] = (),
) -> Iterator[str]:
    """A login that stands for a principal, as an operator would make it; its connection string."""
    create_login(server, login)
    with psycopg.connect(server.database(database), autocommit=True) as operator:
        operator.execute(
            "select pgcontext.map_login(%s, %s, %s, %s)", (login, principal, list(groups), list(roles))
        )
        try:
            yield server.database(database, login)
        finally:
            operator.execute("select pgcontext.unmap_login(%s)", (login,))
            drop_login(server, database, login)


def create_login(server: PostgresServer, login: str, options: str = "") -> None:
    server.execute(
        sql.SQL("create role {} login password {} " + options).format(sql.Identifier(login), sql.Literal(PASSWORD))  # type: ignore[operator]
    )


def drop_login(server: PostgresServer, database: str, login: str) -> None:
    server.execute(sql.SQL("drop owned by {}").format(sql.Identifier(login)), database)
    server.execute(sql.SQL("drop role {}").format(sql.Identifier(login)))


class PersonStore(PostgresStore):
    """Calls the stored functions as the login of its connection string, whoever the server says is calling."""

    async def _refuse_inert_policies(self) -> None:
        """Concerns the server's login."""

    async def _call(
        self, caller: Principal, function: str, arguments: tuple[Any, ...], make: Callable[..., T]
    ) -> list[T]:
        try:
            async with self._connection() as connection:
                cursor = await connection.execute(self._statements[function], arguments, binary=True)
                return [make(*row) for row in await cursor.fetchall()]
        except psycopg.Error as error:
            raise _translate(error) from error
