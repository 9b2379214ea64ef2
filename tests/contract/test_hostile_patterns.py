"""Patterns that would take forever, or all memory."""

from __future__ import annotations

import asyncio

import pytest

from contract.helpers import ServeWith, text_of

LIMITS = {"grep_regex_timeout_s": 1}
HOSTILE = {
    "exponential": r"^(a|aa)+$",
    "nested": r"(a+)+(a+)+(a+)+b",
    "back-reference": r"(a*)(a*)(a*)(a*)\1\2\3\4b",
    "recursion": r"(a(?R)?a|a)*z",
    "alternation": "|".join(f"w{number}x{number * 7}y" for number in range(2500)),
    "repeated": "(?:(?:(?:a{1000}){1000}){1000}){1000}",
    "deep": "(" * 16_000 + "a" + ")" * 16_000,
    "fuzzy": "(?:" + "ab" * 30 + "){e<=30}",
}
VICTIM = "a" * 30_000 + "!"


@pytest.mark.slow
async def test_another_caller_is_answered_while_a_pattern_burns_its_budget(serve_with: ServeWith) -> None:
    async with serve_with(**LIMITS) as world:
        alice, mallory = world.as_("alice"), world.as_("mallory")
        for number in range(8):
            await mallory.store(f"{VICTIM}{number}")
        found = await alice.store("what alice looks for")
        hostile = asyncio.ensure_future(mallory.grep_context(pattern=HOSTILE["exponential"], is_regex=True))
        for _ in range(2):
            assert await alice.search() == [found]
            assert (await alice.grep_context(pattern="LOOKS"))["total_matches"] == 1
            assert (await alice.grep_context(pattern=r"\blooks\b", is_regex=True))["total_matches"] == 1
        assert not hostile.done()
        answer = await hostile
        assert (answer["total_matches"], answer["truncated"]) == (0, True)


@pytest.mark.slow
async def test_many_hostile_calls_of_one_caller_leave_room_for_others(serve_with: ServeWith) -> None:
    async with serve_with(**LIMITS) as world:
        alice, mallory = world.as_("alice"), world.as_("mallory")
        for number in range(3):
            await mallory.store(f"{VICTIM}{number}")
        await alice.store("what alice looks for")
        hostile = [
            asyncio.ensure_future(mallory.grep_context(pattern=HOSTILE["nested"], is_regex=True)) for _ in range(3)
        ]
        await asyncio.sleep(0)
        assert (await alice.grep_context(pattern=r"\blooks\b", is_regex=True))["total_matches"] == 1
        assert not all(call.done() for call in hostile)
        assert all(answer["truncated"] for answer in await asyncio.gather(*hostile))


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_pattern_ends_and_the_server_goes_on(serve_with: ServeWith, name: str) -> None:
    async with serve_with(**LIMITS) as world:
        mallory = world.as_("mallory")
        await mallory.store(VICTIM)
        result = await mallory.call("grep_context", pattern=HOSTILE[name], is_regex=True)
        assert text_of(result).startswith("pattern: " if result.is_error else "{")
        answer = await mallory.grep_context(pattern="a!$", is_regex=True)
        assert (answer["total_matches"], answer["truncated"]) == (1, False)
        # and literals, which no time limit of an engine guards
        answer = await mallory.grep_context(pattern="A" * 3_000 + "b")
        assert answer["total_matches"] == 0
