"""Work that may take any time and any memory: done by a process of its own, which can be stopped.

A pattern or a text from outside can keep an interpreter busy for as long as it likes, with its lock held, and can
make it ask for more memory than there is. A worker is killed when its time is over, and may not take more than
`MAX_MEMORY`. There are few of them, so that the server keeps its share of the processors.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import inf
from typing import TypeVar, TypeVarTuple
from weakref import WeakValueDictionary

import anyio
import anyio.to_process
from anyio.lowlevel import RunVar

logger = logging.getLogger(__name__)

Args = TypeVarTuple("Args")
T = TypeVar("T")

MAX_MEMORY = 1 << 30
_PROCESSES = 2

_slots: RunVar[anyio.Semaphore] = RunVar("pgcontext worker slots")
_turns: RunVar[WeakValueDictionary[str, anyio.Lock]] = RunVar("pgcontext worker turns")
_unlimited: RunVar[anyio.CapacityLimiter] = RunVar("pgcontext worker limiter")


class OutOfBounds(Exception):
    """The work was given up, because of its time or its memory."""


async def run_in_worker(caller: str, seconds: float, function: Callable[[*Args], T], *args: *Args) -> T:
    """The function's result; it and its arguments are pickled. Raises what it raises, and `OutOfBounds`.

    A caller has one worker at a time, and waits in line for it, so that nobody takes them all.
    """
    async with _turn(caller):
        with anyio.move_on_after(seconds):
            try:
                return await anyio.to_process.run_sync(
                    _confined, function, args, cancellable=True, limiter=_no_limit()
                )
            except (anyio.BrokenWorkerProcess, MemoryError) as error:
                logger.warning("A worker gave up on %s", function.__name__, exc_info=error)
                raise OutOfBounds from error
    raise OutOfBounds


@asynccontextmanager
async def _turn(caller: str) -> AsyncIterator[None]:
    """A slot, for one call of each caller."""
    try:
        slots, turns = _slots.get(), _turns.get()
    except LookupError:
        slots, turns = anyio.Semaphore(_PROCESSES), WeakValueDictionary()
        _slots.set(slots)
        _turns.set(turns)
    turn = turns.get(caller)
    if turn is None:
        turn = turns[caller] = anyio.Lock()
    async with turn, slots:
        yield


def _no_limit() -> anyio.CapacityLimiter:
    """The slots limit already."""
    try:
        return _unlimited.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(inf)
        _unlimited.set(limiter)
        return limiter


_is_confined = False


def _confined(function: Callable[[*Args], T], args: tuple[*Args]) -> T:
    """Runs in the worker."""
    global _is_confined
    if not _is_confined:
        _is_confined = True
        _confine()
    return function(*args)


def _confine() -> None:
    # Windows has no such limit
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
