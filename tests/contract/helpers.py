"""What the contract tests share: refusals as text, ids that nobody has, small images."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from support.world import Person, ToolRefused, World

UNKNOWN_ID = "0190abcdef1274568890abcdef123456"
"""A well-formed id that no entry has."""

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(48))).decode()
OTHER_PIXEL = base64.b64encode(b"GIF89a" + bytes(range(200, 256))).decode()
IMAGE = {"data": PIXEL, "mime_type": "image/png"}

ServeWith = Callable[..., AbstractAsyncContextManager[World]]
"""Starts a server with the settings given, in the present storage mode: `serve_with(disabled_tools=("x",))`."""

OnStorage = Callable[..., None]
"""Runs a statement on the storage itself: SQLite's, PostgreSQL's, then their parameters."""

Backdate = Callable[[str, str], None]
"""Moves the creation of an entry, given its id, to a time such as `2026-03-14T23:30:00Z`."""


async def refusal(call: Awaitable[Any]) -> str:
    """The words with which a tool refuses the call; a call that succeeds fails the test."""
    with pytest.raises(ToolRefused) as caught:
        await call
    return str(caught.value)


def text_of(result: CallToolResult) -> str:
    """What an agent reads of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def hyphenated(entry_id: str) -> str:
    """An id in the 36-character form."""
    return "-".join((entry_id[:8], entry_id[8:12], entry_id[12:16], entry_id[16:20], entry_id[20:]))


async def read(person: Person, entry_id: str) -> dict[str, Any]:
    """One entry as somebody reads it."""
    (entry,) = await person.get(entry_id)
    return entry


async def grants(owner: Person, entry_id: str) -> list[tuple[str, str, str]]:
    """(principal type, principal id, permission) of every grant of an entry."""
    listed = (await owner.list_context_grants(context_id=entry_id))["grants"]
    return [(grant["principal_type"], grant["principal_id"], grant["permission"]) for grant in listed]


async def share(
    owner: Person, entry_id: str, principal_id: str, permission: str = "read", principal_type: str = "user"
) -> None:
    """Give a permission on an entry to somebody."""
    await owner.share_context(
        context_id=entry_id, principal_type=principal_type, principal_id=principal_id, permission=permission
    )


async def sharing_a_prefix(person: Person) -> tuple[str, str]:
    """Two new entries whose ids begin with the same eight digits.

    The first eight digits of an id change once in 65 seconds, so that two of three neighbours agree on them.
    """
    first, second, third = [
        await person.store(f"neighbour {number}", thread_id="neighbours") for number in range(3)
    ]
    return (first, second) if first[:8] == second[:8] else (second, third)


async def total_entries(person: Person) -> int:
    """How many entries somebody may read, as get_statistics counts them."""
    return int((await person.get_statistics())["total_entries"])
