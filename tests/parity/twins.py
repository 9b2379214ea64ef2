"""One server on SQLite and one on PostgreSQL that are asked the same, and whose answers must be the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from pgcontext.principal import Principal
from pgcontext.settings import Settings
from pgcontext.storage.store import Store
from support.world import World, serving

_UNKNOWN_ID = "01900000abcd7000800000000000%04x"
_MOMENTS = {"created_at", "updated_at", "first_entry", "last_entry"}
_OF_THE_BACKEND = {
    *("database_size_mb", "embeddings_size_mb", "connection_metrics"),
    *("execution_time_ms", "backend", "engine", "query_plan"),
}


@dataclass(slots=True)
class Side:
    """One of the two servers; `entries` are the ids of what was stored, oldest first."""

    name: str
    world: World
    wipe: Callable[[], None]
    entries: list[str] = field(default_factory=list)
    moments: dict[str, str] = field(default_factory=dict)


class Placeholder(Protocol):
    """An argument that has another value on each side."""

    def resolve(self, sides: Sequence[Side], side: Side) -> str:
        """The value on one of the sides."""


@dataclass(frozen=True, slots=True)
class EntryId:
    """The id of the n-th entry, counted around, in one of its spellings."""

    number: int
    form: str = "whole"

    def resolve(self, sides: Sequence[Side], side: Side) -> str:
        if self.form == "unknown" or not side.entries:
            return _UNKNOWN_ID % self.number
        number = self.number % len(side.entries)
        entry_id = side.entries[number]
        match self.form:
            case "hyphens":
                return f" {_with_hyphens(entry_id)} "
            case "prefix":
                return entry_id[:28]
            case "short":
                return entry_id[: _comparable_length(sides, number)]
        return entry_id


@dataclass(frozen=True, slots=True)
class CreatedAt:
    """When the n-th entry was created, as a tool told it."""

    number: int

    def resolve(self, sides: Sequence[Side], side: Side) -> str:
        if not side.entries:
            return "2026-01-01"
        return side.moments.get(side.entries[self.number % len(side.entries)], "2026-01-01T00:00:00Z")


def _with_hyphens(entry_id: str) -> str:
    return str(UUID(entry_id)).upper()


def _comparable_length(sides: Sequence[Side], number: int) -> int:
    """The shortest of two lengths of a prefix that the same entries share on both sides.

    An id begins with the time, so what shares a short prefix depends on when the entries were stored.
    """
    sharing = [
        [other[:8] == side.entries[number][:8] for other in side.entries]
        for side in sides
        if number < len(side.entries)
    ]
    return 8 if all(shares == sharing[0] for shares in sharing) else 28


class Twins:
    """The two servers."""

    def __init__(self, *sides: Side) -> None:
        self.sides = sides
        self._owners: list[Principal] = []

    def __repr__(self) -> str:
        return " and ".join(side.name for side in self.sides)

    def wipe(self) -> None:
        """Begin anew with empty storage."""
        for side in self.sides:
            side.wipe()
            side.entries.clear()
            side.moments.clear()
        self._owners.clear()

    async def call(self, caller: Principal | None, tool: str, arguments: dict[str, Any]) -> Any:
        """What both sides answer, ids and times apart; AssertionError when they differ.

        Without a caller, the owner of the first entry among the arguments calls.
        """
        caller = caller or self._owner_of_first(arguments) or Principal("nobody")
        one, two = [await self._call(side, caller, tool, arguments) for side in self.sides]
        assert one == two, (
            f"{caller.id} calls {tool} with {arguments}\n{self.sides[0].name}: {one}\n{self.sides[1].name}: {two}"
        )
        self._owners += [caller] * (len(self.sides[0].entries) - len(self._owners))
        return json.loads(one)

    def _owner_of_first(self, value: Any) -> Principal | None:
        if isinstance(value, EntryId):
            return self._owners[value.number % len(self._owners)] if self._owners else None
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return next(filter(None, map(self._owner_of_first, items)), None)

    async def _call(self, side: Side, caller: Principal, tool: str, arguments: dict[str, Any]) -> str:
        resolved = _resolve(arguments, self.sides, side)
        person = side.world.as_(caller.id, groups=caller.groups, roles=caller.roles)
        result = await person.call(tool, **resolved)
        answer = result.content[0].text if result.is_error else result.structured_content  # type: ignore[union-attr]
        assert "failed on the server" not in answer, f"{side.name}: {tool} with {resolved}"
        if tool.startswith("store"):
            _learn(side, answer)
        return json.dumps(_comparable(answer, side), sort_keys=True, ensure_ascii=False)


def _resolve(value: Any, sides: Sequence[Side], side: Side) -> Any:
    if isinstance(value, dict):
        return {key: _resolve(item, sides, side) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_resolve(item, sides, side) for item in value]
    return value.resolve(sides, side) if isinstance(value, (EntryId, CreatedAt)) else value


def _learn(side: Side, answer: Any) -> None:
    """Keep the ids of new entries, in the order in which they were stored."""
    if not isinstance(answer, dict):
        return
    for item in answer.get("results", [answer]):
        entry_id = item.get("context_id")
        if entry_id and entry_id not in side.entries:
            side.entries.append(entry_id)


def _comparable(answer: Any, side: Side) -> Any:
    """An answer with ids counted, times ranked, and without what each backend may say in its own way."""
    moments: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if "id" in value and "created_at" in value:
                side.moments[value["id"]] = value["created_at"]
            moments.update(item for key, item in value.items() if key in _MOMENTS)
            # what the caller stored holds no times of the server, and those of grants are cut to seconds
            for key, item in value.items():
                if key not in ("metadata", "grants"):
                    collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    collect(answer)
    ranks = {moment: rank for rank, moment in enumerate(sorted(moments))}

    def rewrite(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: item
                if key == "metadata"
                else ranks.get(item)
                if key in _MOMENTS
                # it holds an id, so that it differs; whether there is one must not
                else item is None
                if key == "next_cursor"
                else rewrite(item)
                for key, item in value.items()
                if key not in _OF_THE_BACKEND
            }
        if isinstance(value, list):
            return list(map(rewrite, value))
        return _without_ids(value, side) if isinstance(value, str) else value

    return rewrite(answer)


def _without_ids(text: str, side: Side) -> str:
    for number, entry_id in enumerate(side.entries):
        for spelling in (entry_id, _with_hyphens(entry_id), entry_id[:28]):
            text = text.replace(spelling, f"<entry {number}>")
    for entry_id in side.entries:
        text = text.replace(f"'{entry_id[:8]}'", "'<short prefix>'")
    return text


@asynccontextmanager
async def twins(
    settings: Settings, sqlite: tuple[Store, Callable[[], None]], postgresql: tuple[Store, Callable[[], None]]
) -> AsyncIterator[Twins]:
    """Both servers with the same settings; each backend is a store and a function that empties it."""
    async with serving(settings, sqlite[0]) as one, serving(settings, postgresql[0]) as two:
        yield Twins(Side("sqlite", one, sqlite[1]), Side("postgresql", two, postgresql[1]))
