"""grep_context: what is matched, how it is shown, what is capped, and what is never seen."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as random_settings
from hypothesis import strategies as st

from contract.helpers import IMAGE, ServeWith, refusal, share
from support.world import Person, World

ODD_TEXT = "A.B*c 😀e\u0301\r\n日本語\rstraße\u2028x\n\U00010348 end"


async def matches(person: Person, pattern: str, **arguments: Any) -> list[str]:
    """What matched, read back by its offsets."""
    found = await person.grep_context(pattern=pattern, output_mode="content", **arguments)
    return [
        (
            await person.read_context_range(
                context_id=match["context_id"], start_char=match["match_start"], end_char=match["match_end"]
            )
        )["text"]
        for match in found["results"]
    ]


async def ids(person: Person, pattern: str, **arguments: Any) -> list[str]:
    """The entries that hold a match."""
    found = await person.grep_context(pattern=pattern, **arguments)
    return [entry["context_id"] for entry in found["results"]]


async def test_a_literal_matches_its_characters_and_nothing_else(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("a.b a+b (a|b) 100%_x \\d [z] ' \" -- ^$ tab\there")
    for literal in ("a.b", "a+b", "(a|b)", "%_x", "\\d", "[z]", "' \" --", "^$", "b\there", " ", "x"):
        assert await matches(alice, literal), literal
    for absent in ("axb", "a..b", "100__x", "%%", "\\w", "zz", "''", "^a"):
        assert await matches(alice, absent) == [], absent


@pytest.mark.parametrize(
    "text, pattern",
    [
        ("PostgreSQL decides", "postgresql DECIDES"),
        ("Привет, мир", "ПРИВЕТ"),
        ("ΟΔΟΣ Ἀθηνᾶς", "οδος"),
        ("the long \u017f of \u017fecrets", "SECRETS"),
        ("273 \u212aelvin", "kelvin"),
        ("kelvin", "\u212aELVIN"),
        ("Éluard", "éLUARD"),
        ("GROẞ", "groß"),
        ("今天玩成语接龙游戏", "成语接龙"),
        ("设备", "设备"),
    ],
)
async def test_case_is_ignored_in_all_scripts_unless_it_counts(world: World, text: str, pattern: str) -> None:
    alice = world.as_("alice")
    await alice.store(text)
    # so many newer ones that the entry is not among those that are looked at in any case
    for _ in range(3):
        entries = [{"thread_id": "t", "source": "user", "text": f"filler {n}"} for n in range(100)]
        await alice.store_context_batch(entries=[entry | {"deduplicate": False} for entry in entries])
    expected = [found.group() for found in re.finditer(re.escape(pattern), text, re.IGNORECASE)]
    assert len(expected) == 1
    assert await matches(alice, pattern) == expected
    assert await matches(alice, expected[0], case_sensitive=True) == expected
    if pattern != expected[0]:
        assert await matches(alice, pattern, case_sensitive=True) == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
async def test_anchors_hold_at_every_line_and_a_dot_stays_in_it(world: World, line_end: str) -> None:
    alice = world.as_("alice")
    await alice.store(line_end.join(["one", "two 2", "", "three\u2028four"]))
    for pattern, expected in (
        (r"^\w+", ["one", "two", "three"]),
        (r"\w+$", ["one", "2", "four"]),
        (r"t.*", ["two 2", "three\u2028four"]),
        (r"one\ntwo", [f"one{line_end}two"]),
        (r"e\s+t", [f"e{line_end}t"]),
        (r"(?s)2.*three", [f"2{line_end}{line_end}three"]),
    ):
        assert await matches(alice, pattern, is_regex=True) == expected, pattern
    assert await matches(alice, line_end) == [line_end] * 3
    assert await matches(alice, r"\r", is_regex=True) == ["\r"] * (3 * line_end.count("\r"))


async def test_a_wrong_pattern_is_refused_even_where_nothing_is_stored(world: World) -> None:
    alice = world.as_("alice")
    for pattern in ("(", "[a", "a{2,1}", "*a", r"\p{Nonsense}", "(?P<n>a)(?P<n"):
        assert (await refusal(alice.grep_context(pattern=pattern, is_regex=True))).startswith("pattern: is not a ")
        assert (await alice.grep_context(pattern=pattern))["results"] == []
    for pattern, why in (("", "empty"), ("a\x00", "NUL"), ("\ud800", "surrogate"), ("x" * 32_769, "32768")):
        assert why in await refusal(alice.grep_context(pattern=pattern))
    assert "context_lines" in await refusal(alice.grep_context(pattern="a", context_lines=101))
    for name in ("max_matches", "max_entries_scanned"):
        assert name in await refusal(alice.grep_context(pattern="a", **{name: 0}))


async def test_the_three_output_modes(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    older = await alice.store("one fish two fish", visibility="public")
    newer = await bob.store("no fish")
    await share(bob, newer, "alice")
    access = [{"visibility": "private", "is_owner": False}, {"visibility": "public", "is_owner": True}]
    common = {"total_matches": 3, "truncated": False}
    assert await alice.grep_context(pattern="FISH") == common | {
        "mode": "files_with_matches",
        "results": [
            {"context_id": newer, "match_count": 1} | access[0],
            {"context_id": older, "match_count": 2} | access[1],
        ],
    }
    assert await alice.grep_context(pattern="FISH", output_mode="count") == common | {
        "mode": "count",
        "results": [
            {"context_id": newer, "count": 1} | access[0],
            {"context_id": older, "count": 2} | access[1],
        ],
    }
    line = {"line_number": 1, "before": [], "after": []}
    whole = {"line": "one fish two fish", "context_id": older} | access[1]
    assert await alice.grep_context(pattern="FISH", output_mode="content") == common | {
        "mode": "content",
        "results": [
            {"context_id": newer, "line": "no fish", "match_start": 3, "match_end": 7} | access[0] | line,
            {"match_start": 4, "match_end": 8} | whole | line,
            {"match_start": 13, "match_end": 17} | whole | line,
        ],
    }


async def test_content_shows_the_lines_around_a_match(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("\n".join(f"line {number}" for number in range(1, 60)))
    for asked, before, after in ((0, 0, 0), (1, 1, 1), (20, 4, 20), (100, 4, 20)):
        found = await alice.grep_context(
            pattern="line 5$", is_regex=True, output_mode="content", context_lines=asked
        )
        (match,) = found["results"]
        assert (match["line_number"], match["line"]) == (5, "line 5")
        assert match["before"] == [f"line {number}" for number in range(5 - before, 5)]
        assert match["after"] == [f"line {number}" for number in range(6, 6 + after)]


pieces = st.sampled_from(
    [
        "a",
        "B",
        "é",
        "e\u0301",
        "日本",
        "😀",
        "\U00010348",
        "\r\n",
        "\r",
        "\n",
        "\u2028",
        "\x85",
        " ",
        "İ",
        "ſ",
        "ß",
        "#",
    ]
)


@random_settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    text=st.lists(pieces, min_size=1, max_size=30).map("".join).filter(str.strip),
    start=st.integers(0, 30),
    length=st.integers(1, 5),
    is_regex=st.booleans(),
)
async def test_a_match_reads_back_as_what_matched(
    world: World, text: str, start: int, length: int, is_regex: bool
) -> None:
    alice = world.as_("alice")
    stored = text.strip()
    pattern = stored[start % len(stored) :][:length]
    entry_id = await alice.store(text, deduplicate=False)
    found = await alice.grep_context(
        pattern=re.escape(pattern) if is_regex else pattern,
        is_regex=is_regex,
        case_sensitive=True,
        output_mode="content",
        max_entries_scanned=1,
    )
    assert found["results"], (stored, pattern)
    for match in found["results"]:
        assert match["context_id"] == entry_id
        span = await alice.read_context_range(
            context_id=entry_id, start_char=match["match_start"], end_char=match["match_end"]
        )
        assert span["text"].replace("\r\n", "\n").replace("\r", "\n") == pattern.replace("\r\n", "\n").replace(
            "\r", "\n"
        )
        assert span["text"] == stored[match["match_start"] : match["match_end"]]
        line = await alice.read_context_range(
            context_id=entry_id, start_line=match["line_number"], end_line=match["line_number"]
        )
        assert line["text"] == match["line"]
        assert line["start_char"] <= match["match_start"]
        assert span["start_line"] == match["line_number"]


async def test_lines_end_with_lf_crlf_or_cr_and_nothing_else(world: World) -> None:
    alice = world.as_("alice")
    await alice.store(ODD_TEXT)
    found = await alice.grep_context(pattern=r"[a日s\U00010348]", is_regex=True, output_mode="content")
    shown = {match["line_number"]: match["line"] for match in found["results"]}
    assert shown == {1: "A.B*c 😀e\u0301", 2: "日本語", 3: "straße\u2028x", 4: "\U00010348 end"}


async def test_a_very_long_line_is_shown_around_its_match(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("x" * 10_000 + "needle" + "y" * 10_000)
    (match,) = (await alice.grep_context(pattern="needle", output_mode="content"))["results"]
    assert "needle" in match["line"]
    assert len(match["line"]) <= 502
    assert (match["match_start"], match["match_end"]) == (10_000, 10_006)


async def test_truncated_tells_whether_there_is_another_match(world: World) -> None:
    alice = world.as_("alice")
    older, newer = await alice.store("x x x"), await alice.store("x x")
    for most, counts, truncated in ((1, [1], True), (2, [2], True), (4, [2, 2], True), (5, [2, 3], False)):
        for mode in ("count", "files_with_matches", "content"):
            found = await alice.grep_context(pattern="x", output_mode=mode, max_matches=most)
            assert (found["total_matches"], found["truncated"]) == (sum(counts), truncated)
            if mode == "count":
                assert [entry["count"] for entry in found["results"]] == counts
            assert {entry["context_id"] for entry in found["results"]} == {newer, older}.difference(
                [older] if len(counts) < 2 else []
            )


async def test_truncated_tells_whether_the_scan_was_cut_short(world: World) -> None:
    alice = world.as_("alice")
    entries = [await alice.store(f"needle {number}") for number in range(4)]
    for pattern, is_regex in (("needle", False), ("ne", False), (r"\w+ \d", True)):
        for most, truncated in ((3, True), (4, False), (5, False)):
            found = await alice.grep_context(pattern=pattern, is_regex=is_regex, max_entries_scanned=most)
            assert [entry["context_id"] for entry in found["results"]] == entries[::-1][:most]
            assert found["truncated"] is truncated, (pattern, most)


async def test_the_caps_of_the_server_bind_every_call(serve_with: ServeWith) -> None:
    limits = {"grep_max_matches_cap": 3, "grep_max_entries_scanned": 2, "grep_max_context_lines": 1}
    async with serve_with(**limits, grep_aggregate_bytes_budget=1100, grep_max_pattern_chars=5) as world:
        alice = world.as_("alice")
        ids_ = [await alice.store(f"x\nx\n{number}") for number in range(3)]
        found = await alice.grep_context(
            pattern="x", output_mode="content", max_matches=100, max_entries_scanned=100, context_lines=50
        )
        assert (found["total_matches"], found["truncated"]) == (3, True)
        assert {match["context_id"] for match in found["results"]} == set(ids_[1:])
        assert all(len(match["before"]) <= 1 and len(match["after"]) <= 1 for match in found["results"])
        assert "at most 5" in await refusal(alice.grep_context(pattern="abcdef"))
        # in UTF-8 it is longer than the budget; what is older and shorter is still looked at
        await alice.store("x" + "é" * 600)
        found = await alice.grep_context(pattern="x")
        assert (found["total_matches"], found["truncated"]) == (2, True)
        assert [entry["context_id"] for entry in found["results"]] == [ids_[2]]


async def test_entries_that_cannot_match_take_no_place_in_the_scan(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("the needle")
    await alice.store("hay", thread_id="u")
    for pattern, is_regex in (("needle", False), (r"\bneedle\b", True), ("needle|pin|thread", True)):
        found = await alice.grep_context(pattern=pattern, is_regex=is_regex, max_entries_scanned=1)
        assert [entry["context_id"] for entry in found["results"]] == [entry_id]
        assert found["truncated"] is False


async def test_filters_scope_the_scan(world: World) -> None:
    alice = world.as_("alice")
    wanted = await alice.store(
        "word", thread_id="a", source="user", tags=["red"], metadata={"n": 5}, images=[IMAGE]
    )
    await alice.store("word", thread_id="b", tags=["blue"], metadata={"n": 1})
    for filters in (
        {"thread_id": "a"},
        {"source": "user"},
        {"tags": ["RED", "green"]},
        {"metadata_filters": [{"key": "n", "operator": "gt", "value": 3}]},
        {"content_type": "multimodal"},
    ):
        assert await ids(alice, "word", **filters) == [wanted]
        assert await ids(alice, r"w\w{3}", is_regex=True, **filters) == [wanted]
    assert await ids(alice, "word", thread_id="c") == []


async def test_wrong_filters_are_listed_and_find_nothing(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("word")
    found = await alice.grep_context(
        pattern="word",
        metadata_filters=[{"key": "a b", "operator": "eq", "value": 1}, {"key": "a", "operator": "?"}],
    )
    assert (found["results"], found["total_matches"], found["truncated"]) == ([], 0, False)
    assert found["error"] == "Metadata filter validation failed"
    assert len(found["validation_errors"]) == 2


async def test_hidden_entries_use_up_no_cap(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = [await alice.store(f"secret number {number}", deduplicate=False) for number in range(2)]
    alone = {
        pattern: await alice.grep_context(pattern=pattern, is_regex=is_regex, max_matches=2, max_entries_scanned=2)
        for pattern, is_regex in (("secret", False), (r"secret|hidden", True), (r"\d", True))
    }
    entries = [
        {"thread_id": "t", "source": "agent", "text": f"secret number {number}", "deduplicate": False}
        for number in range(100)
    ]
    for _ in range(3):
        await bob.store_context_batch(entries=entries)
    for pattern, answer in alone.items():
        assert answer["total_matches"] == 2
        assert answer["truncated"] is False
        again = await alice.grep_context(
            pattern=pattern, is_regex=pattern != "secret", max_matches=2, max_entries_scanned=2
        )
        assert again == answer
    assert await ids(alice, "secret number 7") == []
    assert await ids(alice, "secret") == own[::-1]


async def test_a_changed_or_deleted_text_is_found_no_more(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("the old words")
    assert await ids(alice, "old words") == [entry_id]
    await alice.update_context(context_id=entry_id, text="the new words")
    assert await ids(alice, "old words") == []
    assert await ids(alice, "NEW words") == [entry_id]
    await alice.update_context(context_id=entry_id, tags=["a"])
    assert await ids(alice, "new words") == [entry_id]
    await alice.delete_context(context_ids=[entry_id])
    assert await ids(alice, "new words") == []
