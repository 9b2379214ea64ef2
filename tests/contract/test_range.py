"""read_context_range: a part of an entry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as random_settings
from hypothesis import strategies as st

from contract.helpers import UNKNOWN_ID, ServeWith, refusal
from support.world import World

TEXT = "# One 😀\nsecond\r\n\r\nfourth\rfifth\n\n## Two\nlast"
LINES = ["# One 😀", "second", "", "fourth", "fifth", "", "## Two", "last"]


async def test_characters_lines_and_sections(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(TEXT, visibility="public")
    two = TEXT.index("## Two")
    for arguments, start, end, first, last in (
        ({"start_char": 6, "end_char": 10}, 6, 10, 1, 2),
        ({"start_char": 8}, 8, len(TEXT), 2, 8),
        ({"end_char": 7}, 0, 7, 1, 1),
        ({"start_line": 2, "end_line": 4}, 8, 24, 2, 4),
        ({"start_line": 7}, two, len(TEXT), 7, 8),
        ({"end_line": 1}, 0, 7, 1, 1),
        ({"start_line": 3, "end_line": 3}, 16, 16, 3, 3),
        ({"node_id": "one/two"}, two, len(TEXT), 7, 8),
        ({"node_id": "root"}, 0, len(TEXT), 1, 8),
    ):
        span = await alice.read_context_range(context_id=entry_id, **arguments)
        assert span == {
            "context_id": entry_id,
            "start_char": start,
            "end_char": end,
            "start_line": first,
            "end_line": last,
            "text": TEXT[start:end],
            "visibility": "public",
            "is_owner": True,
        }, arguments
    assert (await world.as_("bob").read_context_range(context_id=entry_id, end_line=1))["is_owner"] is False


async def test_exactly_one_way_of_addressing(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(TEXT)
    for arguments in (
        {},
        {"start_char": 0, "start_line": 1},
        {"end_char": 0, "node_id": "one"},
        {"end_line": 1, "node_id": "one"},
        {"start_char": None, "node_id": None},
    ):
        words = await refusal(alice.read_context_range(context_id=entry_id, **arguments))
        assert words == "Provide exactly one of start_char/end_char, start_line/end_line and node_id"
    for name in ("char", "line"):
        reversed_range = {f"start_{name}": 5, f"end_{name}": 4}
        words = await refusal(alice.read_context_range(context_id=entry_id, **reversed_range))
        assert words == f"start_{name} must not be greater than end_{name}"


async def test_what_lies_outside_of_the_text_is_cut_off(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(TEXT)
    size = len(TEXT)
    for arguments, start, end, first, last in (
        ({"start_char": -5, "end_char": 10**30}, 0, size, 1, 8),
        ({"start_char": size + 5, "end_char": size + 9}, size, size, 8, 8),
        ({"start_char": 2**40}, size, size, 8, 8),
        ({"start_char": -9, "end_char": -3}, 0, 0, 1, 1),
        ({"start_char": 4, "end_char": 4}, 4, 4, 1, 1),
        ({"start_line": -3, "end_line": 10**12}, 0, size, 1, 8),
        ({"start_line": 99, "end_line": 100}, size - 4, size, 8, 8),
        ({"start_line": 99}, size - 4, size, 8, 8),
        ({"end_line": 0}, 0, 7, 1, 1),
    ):
        span = await alice.read_context_range(context_id=entry_id, **arguments)
        assert (span["start_char"], span["end_char"]) == (start, end), arguments
        assert (span["start_line"], span["end_line"], span["text"]) == (first, last, TEXT[start:end]), arguments


async def test_a_section_that_is_gone_gives_way_to_the_one_above(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("# One\n\n## Two\n\ntext\n\n# Other")
    whole = await alice.read_context_range(context_id=entry_id, node_id="one")
    for node_id in ("one/three", "one/three/four"):
        assert await alice.read_context_range(context_id=entry_id, node_id=node_id) == whole
    for node_id in ("three", "three/two", "", "One", "x" * 500, "/"):
        words = await refusal(alice.read_context_range(context_id=entry_id, node_id=node_id))
        assert words.startswith("node_id: the entry has no section")
        assert len(words) < 300


pieces = st.sampled_from(["a", "é", "e\u0301", "日", "😀", "\r\n", "\r", "\n", "\u2028", "\x0b", " "])


def number_of_lines(text: str) -> int:
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@random_settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    text=st.lists(pieces, min_size=1, max_size=30).map(lambda parts: "".join(parts).strip()).filter(bool),
    one=st.integers(-2, 32),
    length=st.integers(0, 32),
)
async def test_spans_are_those_of_the_text_itself(world: World, text: str, one: int, length: int) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(text, deduplicate=False)
    start, end = (min(max(place, 0), len(text)) for place in (one, one + length))
    span = await alice.read_context_range(context_id=entry_id, start_char=one, end_char=one + length)
    assert (span["start_char"], span["end_char"], span["text"]) == (start, end, text[start:end])

    def line_at(offset: int) -> int:
        before = text[:offset]
        inside = before.endswith("\r") and text[offset : offset + 1] == "\n"
        return number_of_lines(before) - inside

    assert (span["start_line"], span["end_line"]) == (line_at(start), line_at(max(end - 1, start)))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first, last = (min(max(number, 1), len(lines)) for number in (one, one + length))
    span = await alice.read_context_range(context_id=entry_id, start_line=one, end_line=one + length)
    assert (span["start_line"], span["end_line"]) == (first, last)
    assert span["text"] == text[span["start_char"] : span["end_char"]]
    plain = span["text"].replace("\r\n", "\n").replace("\r", "\n")
    assert plain.split("\n") == lines[first - 1 : last]


async def test_a_span_deep_in_a_very_long_text(world: World) -> None:
    alice = world.as_("alice")
    lines = [f"{number} 😀 строка" for number in range(1, 70_001)]
    # so that a break stands across the places where the text may be read piece by piece
    text = "x" * 65_535 + "\r\n" + "\r\n".join(lines)
    entry_id = await alice.store(text)
    for number in (1, 2, 1000, 30_000, 70_001):
        span = await alice.read_context_range(context_id=entry_id, start_line=number, end_line=number)
        assert span["text"] == ("x" * 65_535 if number == 1 else lines[number - 2])
        assert text[span["start_char"] : span["end_char"]] == span["text"]
        again = await alice.read_context_range(
            context_id=entry_id, start_char=span["start_char"], end_char=span["end_char"]
        )
        assert again == span


@pytest.mark.parametrize("arguments", [{"start_char": 0}, {"start_line": 1}, {"node_id": "root"}])
async def test_a_hidden_entry_is_refused_like_a_missing_one(world: World, arguments: dict[str, Any]) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store(TEXT)
    for context_id in (entry_id, UNKNOWN_ID):
        words = f"Context entry with ID {context_id} not found"
        assert await refusal(bob.read_context_range(context_id=context_id, **arguments)) == words
        assert await refusal(bob.navigate_context(context_id=context_id)) == words


async def test_each_tool_has_a_switch(serve_with: ServeWith) -> None:
    switches = {
        "grep_context": "enable_grep_context",
        "navigate_context": "enable_context_navigation",
        "read_context_range": "enable_context_range",
    }
    for off, switch in switches.items():
        async with serve_with(**{switch: "False"}) as world:
            listed = {tool.name for tool in (await world.client.list_tools()).tools}
            assert switches.keys() - listed == {off}
            assert "no tool" in await refusal(getattr(world.as_("alice"), off)())
