"""The type of the fixture `serve`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from support.world import World

Serve = Callable[..., AbstractAsyncContextManager[World]]
"""Takes the protocol era and settings; starts another server on the storage of the test."""
