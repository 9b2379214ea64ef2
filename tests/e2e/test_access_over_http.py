"""The access matrix once more: over HTTP, with signed tokens, against a server process, in every storage mode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CallToolResult

from contract.helpers import grants
from contract.matrix import ACTIONS, CALLERS, GROUPS, Scene, observe, person
from e2e.processes import WITH_MODEL, ServerProcess, client_of, on_postgres
from pgcontext.principal import Principal
from pgcontext.storage.postgres.installer import provision
from support.issuer import jwt_settings, token
from support.options import options_for, settings_for
from support.postgres import LOGIN, OWNER, PostgresServer
from support.world import Person, World, in_own_task

OWNERS_IDENTITY = {"test.pgcontext/caller": {"id": "owner", "groups": ["writers"], "roles": []}}


class TokenHolder(Person):
    """Somebody with a token, who says in every message to be the owner."""

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self._client.call_tool(tool, arguments, meta=OWNERS_IDENTITY)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def storage_settings(mode: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of a server on this module's storage of the present mode."""
    if mode == "sqlite":
        folder: Path = request.getfixturevalue("sqlite_folder")
        return {"STORAGE_BACKEND": "sqlite", "DB_PATH": str(folder / "pgcontext.db")}
    server: PostgresServer = request.getfixturevalue("postgres")
    row_level_security = mode == "postgresql"
    name = request.getfixturevalue("database")(row_level_security)
    chosen = settings_for(access_control_anonymous_principal="anonymous")
    provision(options_for(server.database(name, OWNER), row_level_security, chosen))
    login = LOGIN if row_level_security else OWNER
    return on_postgres(server.database(name, login)) | {"ENABLE_POSTGRESQL_RLS": str(row_level_security).lower()}


@pytest.fixture(scope="module")
async def signed_world(storage_settings: dict[str, str], folder: Path) -> AsyncIterator[World]:
    """A server process, and a client with a token for every caller of the matrix."""
    more = jwt_settings(ACCESS_CONTROL_ANONYMOUS_PRINCIPAL="anonymous")
    with ServerProcess(storage_settings | more | WITH_MODEL, folder) as server:
        async with AsyncExitStack() as stack:
            people: dict[Principal, Person] = {}
            for caller in CALLERS:
                principal = Principal(caller, GROUPS.get(caller, ()))
                sent = token(caller, groups=list(principal.groups))
                client = await stack.enter_async_context(in_own_task(client_of(server.url, sent)))
                people[principal] = TokenHolder(principal, client)
            nobody: Any = None
            yield World(nobody, nobody, settings_for(), people)


@pytest.mark.parametrize("visibility", ("private", "public"))
@pytest.mark.parametrize("name", ACTIONS)
async def test_every_token_gets_what_the_access_rules_say(
    signed_world: World, wipe: Callable[[], None], name: str, visibility: str
) -> None:
    wipe()
    scene = await Scene.set_up(signed_world, visibility, ACTIONS[name].get("metadata"))
    observed = {caller: await observe(scene, ACTIONS[name], person(signed_world, caller)) for caller in CALLERS}
    assert observed == ACTIONS[name][visibility]
    if scene.before and "share" not in ACTIONS[name]["tool"]:
        assert await grants(scene.owner, scene.id) == scene.granted
