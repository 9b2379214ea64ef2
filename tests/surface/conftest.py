"""The surface is the same on every backend, so these tests run on SQLite alone."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from support.options import settings_for
from support.world import Person, World, serving
from surface.another_server import Serve


@pytest.fixture(scope="module")
def mode() -> str:
    """The one storage mode of this folder."""
    return "sqlite"


@pytest.fixture
def alice(world: World) -> Person:
    """Somebody who calls tools on an empty store."""
    return world.as_("alice")


@pytest.fixture
def serve(world: World, make_store: Any) -> Serve:
    """Starts another server on the same storage, with these settings and in this protocol era."""

    def start(era: str = "auto", **settings: Any) -> AbstractAsyncContextManager[World]:
        chosen = settings_for(**settings)
        return serving(chosen, make_store("sqlite", chosen), mode=era)

    return start
