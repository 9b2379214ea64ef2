"""navigate_context: the outline of an entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as random_settings
from hypothesis import strategies as st

from contract.helpers import OnStorage, refusal
from support.world import Person, World

DOCUMENT = """Before any heading.

# Setup 😀
How to begin.

## Install
Steps.

### On Linux & *BSD*
More.

## Install
Once more.

Usage of it
===========
Text.

Fine points
---
The end."""


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from walk(child)


async def outline(person: Person, text: str, **arguments: Any) -> dict[str, dict[str, Any]]:
    """The nodes of the outline of a text, by id."""
    entry_id = await person.store(text, deduplicate=False)
    result = await person.navigate_context(context_id=entry_id, **arguments)
    nodes = list(walk(result["root"]))
    assert result["node_count"] == len(nodes)
    assert result["total_chars"] == len(text)
    return {node["node_id"]: node for node in nodes}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
async def test_the_outline_follows_the_headings(world: World, line_end: str) -> None:
    text = DOCUMENT.replace("\n", line_end)
    nodes = await outline(world.as_("alice"), text)
    assert [(node["node_id"], node["level"], node["ordinal"], node["title"]) for node in nodes.values()] == [
        ("root", 0, 1, ""),
        ("setup", 1, 1, "Setup 😀"),
        ("setup/install", 2, 1, "Install"),
        ("setup/install/on-linux-bsd", 3, 1, "On Linux & *BSD*"),
        ("setup/install-2", 2, 2, "Install"),
        ("usage-of-it", 1, 2, "Usage of it"),
        ("usage-of-it/fine-points", 2, 1, "Fine points"),
    ]
    for node in nodes.values():
        assert text[node["char_start"] :].lstrip("# ").startswith(node["title"])


async def test_what_only_looks_like_a_heading_is_none(world: World) -> None:
    text = "\n".join(
        [
            *("---", "title: front matter", "# none", "---", "", "# Real", "```md", "# fenced", "```", ""),
            *(
                "~~~",
                "## tilde",
                "```",
                "## still",
                "~~~",
                "",
                "    # indented code",
                "",
                "#hashtag",
                "####### seven",
            ),
            *("", "> # quoted", "", "- # in a list", "", "\\# escaped", "", "`# code`", "", "## Also real ##"),
        ]
    )
    assert list(await outline(world.as_("alice"), text)) == ["root", "real", "real/also-real"]


async def test_equal_siblings_are_numbered(world: World) -> None:
    text = (
        "# Notes\n\n# Notes\n\n# Notes 2\n\n# notes\n\n## Notes\n\n# Root\n\n# 😀\n\n# ÄÖ ÅR 1.2\n\n#\n\n# a/b_c"
    )
    assert list(await outline(world.as_("alice"), text)) == [
        *("root", "notes", "notes-2", "notes-2-2", "notes-3", "notes-3/notes"),
        *("root-2", "section", "äö-år-12", "section-2", "ab-c"),
    ]


lines = st.sampled_from(
    ["# A", "## B", "### A", "###### F", "text", "", "A", "===", "---", "```", "> # q", "- # l", "    # c", "😀"]
)


@random_settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    text=st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r"])), min_size=1, max_size=25)
    .map(lambda parts: "".join(line + end for line, end in parts).strip())
    .filter(bool)
)
async def test_the_sections_tile_the_text(world: World, text: str) -> None:
    nodes = await outline(world.as_("alice"), text)
    root = nodes["root"]
    assert (root["char_start"], root["char_end"]) == (0, len(text))
    for node in nodes.values():
        if children := node["children"]:
            assert node["char_start"] <= children[0]["char_start"]
            assert node["char_end"] == children[-1]["char_end"]
        for one, next_one in zip(node["children"], node["children"][1:], strict=False):
            assert one["char_end"] == next_one["char_start"]
        assert all(child["level"] > node["level"] for child in node["children"])


async def test_a_text_without_headings_is_one_root(world: World) -> None:
    nodes = await outline(world.as_("alice"), "just a line")
    assert nodes["root"] == {
        "node_id": "root",
        "level": 0,
        "ordinal": 1,
        "title": "",
        "char_start": 0,
        "char_end": 11,
        "summary": "",
        "children": [],
    }


async def test_deeper_headings_fold_into_their_section(world: World) -> None:
    alice = world.as_("alice")
    whole = await outline(alice, DOCUMENT)
    for depth in (1, 2, 3, 6):
        nodes = await outline(alice, DOCUMENT, max_depth=depth)
        assert list(nodes) == [node_id for node_id, node in whole.items() if node["level"] <= depth]
        for node_id, node in nodes.items():
            assert node["char_end"] == whole[node_id]["char_end"]
    for depth in (0, 7):
        assert "max_depth" in await refusal(alice.navigate_context(context_id="0190abcd", max_depth=depth))


async def test_the_root_mirrors_the_summary(world: World, on_storage: OnStorage) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(DOCUMENT, visibility="public")
    on_storage("update entry_text set summary = ?", "update pgcontext.entry set summary = %s", "What it says.")
    for person, is_owner in ((alice, True), (world.as_("bob"), False)):
        result = await person.navigate_context(context_id=entry_id[:12], include_node_summaries=True)
        assert result["root"]["summary"] == "What it says."
        assert (result["context_id"], result["visibility"], result["is_owner"]) == (entry_id, "public", is_owner)
        for node in walk(result["root"]):
            assert not node.keys() & {"visibility", "is_owner"}
            assert node["node_id"] == "root" or node["summary"] == ""
