"""Work whose time grows with its input, kept off the event loop when the input is large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import anyio

P = ParamSpec("P")
T = TypeVar("T")

HEAVY = 256 * 1024
"""About as many characters as are validated or rendered in a millisecond."""

_ITEM_WEIGHT = 16


async def run_off_loop(payload: Any, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The function's result; a heavy payload sends the work to a thread."""
    if is_heavy(payload):
        return await anyio.to_thread.run_sync(lambda: function(*args, **kwargs))
    return function(*args, **kwargs)


def is_heavy(payload: Any) -> bool:
    """Whether a JSON-like value holds more than `HEAVY` characters or bytes, each item counting as a few."""
    weight = 0
    containers: list[Any] = [(payload,)]
    while containers:
        container = containers.pop()
        weight += _ITEM_WEIGHT * len(container)
        for value in container.values() if type(container) is dict else container:
            kind = type(value)
            if kind is str or kind is bytes:
                weight += len(value)
            elif kind is dict or kind is list:
                containers.append(value)
        if weight > HEAVY:
            return True
    return False
