"""The guides are true: what they show is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from support.world import World

DOCS = Path(__file__).resolve().parents[2] / "docs"
_EXAMPLE = re.compile(r"^    (\w+) (\{.*\})\n\n((?:    .*\n)+)", re.MULTILINE)
_DOCUMENT = re.compile(r"^~~~~markdown\n(.*?)^~~~~$", re.MULTILINE | re.DOTALL)
_ID = "0190abcdef1274568890abcdef123456"


async def test_the_guide_to_navigation_shows_what_happens(world: World) -> None:
    page = (DOCS / "navigation.md").read_text(encoding="utf-8")
    (document,) = _DOCUMENT.findall(page)
    alice = world.as_("alice")
    entry_id = await alice.store(document)
    examples = _EXAMPLE.findall(page)
    assert {tool for tool, _, _ in examples} == {"grep_context", "navigate_context", "read_context_range"}
    for tool, arguments, answer in examples:
        given: dict[str, Any] = json.loads(arguments.replace(_ID, entry_id).replace(_ID[:8], entry_id[:8]))
        shown: dict[str, Any] = json.loads(answer.replace(_ID, entry_id))
        assert await getattr(alice, tool)(**given) == shown, (tool, arguments)
