"""Every tool as every kind of caller on a private and a public entry; the expectations are access_matrix.yaml."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from contract.helpers import grants, text_of
from contract.matrix import ACTIONS, CALLERS, MATRIX, Scene, observe, person
from support.options import settings_for
from support.world import World, serving


@pytest.fixture(scope="module")
async def guarded_world(mode: str, make_store: Callable[..., Any]) -> AsyncIterator[World]:
    """A server with an anonymous principal."""
    settings = settings_for(access_control_anonymous_principal="anonymous")
    async with serving(settings, make_store(mode, settings)) as world:
        yield world


@pytest.mark.parametrize("visibility", ("private", "public"))
@pytest.mark.parametrize("name", ACTIONS)
async def test_every_caller_gets_what_the_access_rules_say(
    guarded_world: World, wipe: Callable[[], None], name: str, visibility: str
) -> None:
    wipe()
    scene = await Scene.set_up(guarded_world, visibility, ACTIONS[name].get("metadata"))
    observed = {caller: await observe(scene, ACTIONS[name], person(guarded_world, caller)) for caller in CALLERS}
    assert observed == ACTIONS[name][visibility]
    if scene.before and "share" not in ACTIONS[name]["tool"]:
        assert await grants(scene.owner, scene.id) == scene.granted


async def test_the_matrix_covers_every_tool(guarded_world: World) -> None:
    listed = {tool.name for tool in (await guarded_world.client.list_tools()).tools}
    assert {action["tool"] for action in ACTIONS.values()} == listed


@pytest.mark.parametrize("visibility", ("private", "public"))
@pytest.mark.parametrize("name", ACTIONS)
def test_the_matrix_knows_the_outcome_for_every_caller(name: str, visibility: str) -> None:
    successes = {"done", "shown", "hidden", "untouched", "apart", "merged", "counted"}
    row = ACTIONS[name][visibility]
    assert list(row) == CALLERS
    assert set(row.values()) <= successes | set(MATRIX["refusals"])


async def test_the_anonymous_principal_is_refused_before_arguments_are_checked(guarded_world: World) -> None:
    anonymous = person(guarded_world, "anonymous")
    tools = (await guarded_world.client.list_tools()).tools
    writing = [tool.name for tool in tools if tool.annotations and not tool.annotations.read_only_hint]
    assert len(writing) == 8
    for tool in writing:
        result = await anonymous.call(tool, nonsense=["of any kind"])
        assert result.is_error
        words = text_of(result)
        assert words == f"The anonymous principal is read-only: {tool} is not permitted"


async def test_a_group_grant_never_makes_the_anonymous_principal_a_writer(
    guarded_world: World, wipe: Callable[[], None]
) -> None:
    wipe()
    scene = await Scene.set_up(guarded_world, "private")
    anonymous = guarded_world.as_("anonymous", groups=("writers",))
    assert len(await anonymous.get(scene.id)) == 1
    result = await anonymous.call("update_context", context_id=scene.id, text="changed")
    assert result.is_error
    assert await scene.entry() == scene.before
