"""The spellings of an id, and prefixes, in every parameter that takes ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contract.helpers import UNKNOWN_ID, hyphenated, read, refusal, share, sharing_a_prefix, total_entries
from support.world import Person, World

Arguments = Callable[[str], dict[str, Any]]
BULK: dict[str, Arguments] = {
    "get_context_by_ids": lambda value: {"context_ids": [value]},
    "delete_context": lambda value: {"context_ids": [value]},
    "delete_context_batch": lambda value: {"context_ids": [value]},
    "update_context_batch": lambda value: {"updates": [{"context_id": value, "tags": ["changed"]}]},
}
SINGLE: dict[str, Arguments] = {
    "update_context": lambda value: {"context_id": value, "tags": ["changed"]},
    "share_context": lambda value: _grant(value),
    "unshare_context": lambda value: _grant(value),
    "list_context_grants": lambda value: {"context_id": value},
    "navigate_context": lambda value: {"context_id": value},
    "read_context_range": lambda value: {"context_id": value, "start_char": 0},
}
TOOLS = BULK | SINGLE
SPELLINGS: dict[str, Callable[[str], str]] = {
    "canonical": lambda entry_id: entry_id,
    "hyphenated": hyphenated,
    "upper case": str.upper,
    "upper case with hyphens": lambda entry_id: hyphenated(entry_id).upper(),
    "white space around": lambda entry_id: f" \t{entry_id}\n",
    "prefix of 31": lambda entry_id: entry_id[:31],
    "prefix of 8": lambda entry_id: entry_id[:8],
    "prefix in capitals with white space": lambda entry_id: f" {entry_id[:12].upper()} ",
}
MALFORMED = {
    "too short": "0190abc",
    "too long": UNKNOWN_ID + "0",
    "not hex": "0190abcg",
    "hyphenated prefix": "0190abcd-ef12",
    "hyphens elsewhere": "0190-abcdef1274568890abcdef123456",
    "braces": "{0190abcd-ef12-7456-8890-abcdef123456}",
    "urn": "urn:uuid:0190abcd-ef12-7456-8890-abcdef123456",
    "other digits": "٠١٢٣٤٥٦٧٨٩",
    "wildcard": "0190abc%",
    "inner space": "0190abcd ef12",
    "empty": "",
    "quote": "0190abcd'",
}


def _grant(value: str) -> dict[str, Any]:
    return {"context_id": value, "principal_type": "user", "principal_id": "bob", "permission": "read"}


async def acts_on(person: Person, tool: str, value: str) -> bool:
    """Whether a tool, called with this spelling, reaches the one entry there is."""
    result = await getattr(person, tool)(**TOOLS[tool](value))
    if "deleted_count" in result:
        return bool(result["deleted_count"] == 1)
    if "results" in result:
        return len(result["results"]) == 1 and result["results"][0].get("success", True)
    return bool(result.get("context_id"))


@pytest.mark.parametrize("tool", TOOLS)
async def test_every_tool_takes_every_spelling_of_an_id(world: World, tool: str) -> None:
    alice = world.as_("alice")
    for name, spell in SPELLINGS.items():
        # once more, where the tool has just deleted it
        entry_id = await alice.store("hello")
        assert await acts_on(alice, tool, spell(entry_id)), name


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_an_id_in_an_answer_is_always_canonical(world: World, spelling: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    spelt = SPELLINGS[spelling](entry_id)
    assert (await read(alice, spelt))["id"] == entry_id
    assert (await alice.update_context(context_id=spelt, text="changed"))["context_id"] == entry_id
    updated = await alice.update_context_batch(updates=[{"context_id": spelt, "text": "again"}])
    assert updated["results"][0]["context_id"] == entry_id
    shared = await alice.share_context(**_grant(spelt))
    assert shared["context_id"] == entry_id
    assert entry_id in shared["message"]
    assert (await alice.list_context_grants(context_id=spelt))["context_id"] == entry_id


@pytest.mark.parametrize("malformed", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_id_is_refused_by_every_tool(world: World, malformed: str) -> None:
    alice = world.as_("alice")
    await alice.store("hello")
    for tool, arguments in TOOLS.items():
        words = await refusal(getattr(alice, tool)(**arguments(malformed)))
        assert "context_id" in words, tool
        assert "hex" in words, tool
    assert await total_entries(alice) == 1


async def test_one_malformed_id_fails_the_whole_list(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert "context_ids[1]" in await refusal(alice.get_context_by_ids(context_ids=[entry_id, "0190abc"]))
    assert "context_ids[1]" in await refusal(alice.delete_context(context_ids=[entry_id, "0190abc"]))
    assert await total_entries(alice) == 1


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_prefix_without_a_match_is_an_error(world: World, tool: str) -> None:
    alice = world.as_("alice")
    await alice.store("hello")
    words = await refusal(getattr(alice, tool)(**TOOLS[tool]("00000000")))
    assert words.removesuffix(" at index 0") == "No context entry matches prefix '00000000'"
    assert await total_entries(alice) == 1


@pytest.mark.parametrize("tool", TOOLS)
async def test_an_ambiguous_prefix_is_an_error(world: World, tool: str) -> None:
    alice = world.as_("alice")
    first, _ = await sharing_a_prefix(alice)
    words = await refusal(getattr(alice, tool)(**TOOLS[tool](first[:8])))
    assert words.removesuffix(" at index 0") == f"Ambiguous prefix '{first[:8]}' matches multiple entries"
    assert await total_entries(alice) == 3
    assert all(entry["tags"] == [] for entry in (await alice.search_context())["results"])


async def test_a_prefix_that_ends_in_the_digit_that_differs_is_not_ambiguous(world: World) -> None:
    alice = world.as_("alice")
    ids = await sharing_a_prefix(alice)
    length = next(place for place in range(8, 32) if ids[0][place] != ids[1][place]) + 1
    others = [entry_id for entry_id in await alice.search() if entry_id not in ids]
    await alice.delete_context(context_ids=others)
    for entry_id in ids:
        assert (await read(alice, entry_id[:length]))["id"] == entry_id
        assert "Ambiguous" in await refusal(alice.get(entry_id[: length - 1]))


async def test_a_prefix_in_other_case_is_named_as_it_is_understood(world: World) -> None:
    words = await refusal(world.as_("alice").get(" ABCDEF00 "))
    assert words == "No context entry matches prefix 'abcdef00'"


async def test_every_element_of_a_list_is_resolved_on_its_own(world: World) -> None:
    alice = world.as_("alice")
    first, second = await sharing_a_prefix(alice)
    found = await alice.get(first[:31], hyphenated(second))
    assert [entry["id"] for entry in found] == [first, second]
    words = await refusal(alice.get(first, "00000000"))
    assert words == "No context entry matches prefix '00000000'"
    updated = await alice.update_context_batch(
        updates=[
            {"context_id": "00000000", "text": "x"},
            {"context_id": second[:31], "text": "changed"},
            {"context_id": first[:8], "text": "x"},
        ],
        atomic=False,
    )
    assert updated["results"] == [
        {"index": 0, "success": False, "error": "No context entry matches prefix '00000000'"},
        {"index": 1, "success": True, "context_id": second},
        {"index": 2, "success": False, "error": f"Ambiguous prefix '{first[:8]}' matches multiple entries"},
    ]


async def test_an_unreadable_entry_never_matches_a_prefix(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    hidden = await bob.store("hidden")
    words = await refusal(alice.get(hidden[:31]))
    assert words == f"No context entry matches prefix '{hidden[:31]}'"


async def test_an_unreadable_entry_never_makes_a_prefix_ambiguous(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    first, second = await sharing_a_prefix(bob)
    await share(bob, first, "alice")
    assert (await read(alice, first[:8]))["id"] == first
    await share(bob, second, "alice")
    assert "Ambiguous" in await refusal(alice.get(first[:8]))


async def test_an_entry_named_twice_is_returned_once(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    found = await alice.get(entry_id, hyphenated(entry_id), entry_id[:31], entry_id.upper())
    assert [entry["id"] for entry in found] == [entry_id]
    deleted = await alice.delete_context(context_ids=[entry_id, hyphenated(entry_id), entry_id[:31]])
    assert deleted["deleted_count"] == 1
