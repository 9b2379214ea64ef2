"""The same text stored by two people: whatever one of them calls, there is no trace of the other's.

Every comparison is between a world in which the other's entries exist and the same world without them: the
answers must be equal, word for word.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from contract.helpers import (
    IMAGE,
    OTHER_PIXEL,
    UNKNOWN_ID,
    Backdate,
    read,
    refusal,
    share,
    sharing_a_prefix,
    text_of,
)
from support.world import Person, World

TEXT = "the very same text"
OWN = {"thread_id": "common", "tags": ["common", "own"], "metadata": {"status": "open", "n": 1}, "images": [IMAGE]}
OTHER = {
    "thread_id": "common",
    "tags": ["common", "theirs"],
    "metadata": {"status": "open", "n": 1, "secret": "value"},
    "images": [{"data": OTHER_PIXEL, "mime_type": "image/gif"}],
}


async def reads(alice: Person, own: str) -> list[dict[str, Any]]:
    """The answers of every read tool, in many ways, without what differs from call to call."""
    condition = {"key": "n", "operator": "gte", "value": 0}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_context", {}),
        ("search_context", {"thread_id": "common"}),
        ("search_context", {"thread_id": "only theirs"}),
        ("search_context", {"tags": ["common", "theirs"]}),
        ("search_context", {"tags": ["theirs"]}),
        ("search_context", {"metadata": {"status": "open"}}),
        ("search_context", {"metadata_filters": [condition]}),
        ("search_context", {"metadata_filters": [{"key": "secret", "operator": "exists"}]}),
        ("search_context", {"content_type": "multimodal", "source": "agent", "include_images": True}),
        ("search_context", {"start_date": "2000-01-01", "end_date": "2999-01-01"}),
        ("search_context", {"limit": 1}),
        ("search_context", {"limit": 1, "offset": 1}),
        ("search_context", {"explain_query": True}),
        ("get_context_by_ids", {"context_ids": [own]}),
        ("get_context_by_ids", {"context_ids": [own[:31]]}),
        ("list_threads", {}),
        ("list_threads", {"limit": 1}),
        ("list_threads", {"limit": 1, "offset": 1}),
        ("get_statistics", {}),
        ("list_context_grants", {"context_id": own}),
    ]
    answers = []
    for tool, arguments in calls:
        answer = await getattr(alice, tool)(**arguments)
        answer.pop("connection_metrics", None)
        for name in ("database_size_mb", "embeddings_size_mb"):
            answer.pop(name, None)
        if "stats" in answer:
            answer["stats"] = {
                name: answer["stats"][name] for name in ("rows_returned", "filters_applied", "backend")
            }
        answers.append(answer)
    return answers


async def test_no_read_tool_shows_a_trace_of_the_same_text_stored_by_somebody_else(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store(TEXT, **OWN)
    before = await reads(alice, own)
    theirs = [await bob.store(TEXT, **OTHER, deduplicate=False) for _ in range(3)]
    theirs.append(await bob.store("an answer", **OTHER | {"thread_id": "only theirs"}, source="user"))
    await share(bob, theirs[0], "carol", "write")
    assert await reads(alice, own) == before
    trace = json.dumps(before)
    assert not any(word in trace for word in (*theirs, "theirs", "secret", "bob", OTHER_PIXEL))


async def test_what_is_hidden_does_not_change_what_a_store_does(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store(TEXT, **OWN)
    theirs = await bob.store(TEXT, **OTHER)
    assert theirs != own
    await bob.store("an answer", thread_id="common", source="user")
    assert await alice.store(TEXT, thread_id="common") == own
    assert (await read(bob, theirs))["metadata"] == OTHER["metadata"]


async def test_a_hidden_entry_takes_no_slot(world: World, backdate: Backdate) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own: list[str] = []
    for number in range(6):
        own.insert(0, await alice.store(f"mine {number}", tags=["x"], metadata={"status": "open"}))
        await bob.store(f"theirs {number}", tags=["x"], metadata={"status": "open"})
    filters: list[dict[str, Any]] = [
        {},
        {"thread_id": "t"},
        {"tags": ["x"]},
        {"metadata": {"status": "open"}},
        {"metadata_filters": [{"key": "status", "operator": "in", "value": ["open"]}], "source": "agent"},
        {"start_date": "2000-01-01"},
    ]
    for arguments in filters:
        pages = [await alice.search_context(limit=2, offset=offset, **arguments) for offset in (0, 2, 4, 6)]
        assert [[entry["id"] for entry in page["results"]] for page in pages] == [own[:2], own[2:4], own[4:], []]
        assert [page["count"] for page in pages] == [2, 2, 2, 0]
    for entry_id in own:
        backdate(entry_id, "2020-01-01T00:00:00+00:00")
    assert await alice.search(limit=6) == own


async def test_hidden_and_missing_ids_get_the_same_words_from_every_tool(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store("mine")
    hidden = await bob.store("hidden", **OTHER)
    grant = {"principal_type": "user", "principal_id": "carol", "permission": "read"}

    async def answers(entry_id: str) -> list[str]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("get_context_by_ids", {"context_ids": [entry_id]}),
            ("get_context_by_ids", {"context_ids": [own, entry_id]}),
            ("get_context_by_ids", {"context_ids": [entry_id[:31]]}),
            ("update_context", {"context_id": entry_id, "text": "x"}),
            ("update_context", {"context_id": entry_id, "metadata_patch": {"a": 1}}),
            ("update_context", {"context_id": entry_id, "visibility": "public"}),
            ("update_context", {"context_id": entry_id[:31], "text": "x"}),
            ("update_context_batch", {"updates": [{"context_id": entry_id, "text": "x"}]}),
            ("update_context_batch", {"updates": [{"context_id": entry_id, "text": "x"}], "atomic": False}),
            ("delete_context", {"context_ids": [entry_id]}),
            ("delete_context", {"context_ids": [entry_id[:31]]}),
            ("delete_context_batch", {"context_ids": [entry_id]}),
            ("delete_context_batch", {"context_ids": [entry_id], "thread_ids": ["common"], "source": "agent"}),
            ("share_context", {"context_id": entry_id, **grant}),
            ("share_context", {"context_id": entry_id[:31], **grant}),
            ("unshare_context", {"context_id": entry_id, **grant}),
            ("list_context_grants", {"context_id": entry_id}),
        ]
        return [
            text_of(await alice.call(tool, **arguments)).replace(entry_id[:31], "prefix")
            for tool, arguments in calls
        ]

    of_hidden, of_missing = await answers(hidden), await answers(UNKNOWN_ID)
    last_digit = re.compile(r"(prefix)[0-9a-f]")
    assert [last_digit.sub(r"\1", words) for words in of_hidden] == [
        last_digit.sub(r"\1", words) for words in of_missing
    ]
    assert (await read(bob, hidden))["text_content"] == "hidden"


async def test_hidden_and_missing_threads_get_the_same_answers(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await bob.store("hidden", thread_id="theirs")
    for tool, arguments in (
        ("search_context", lambda thread: {"thread_id": thread}),
        ("delete_context", lambda thread: {"thread_id": thread}),
        ("delete_context_batch", lambda thread: {"thread_ids": [thread]}),
    ):
        assert await getattr(alice, tool)(**arguments("theirs")) == await getattr(alice, tool)(
            **arguments("nowhere")
        )


async def test_a_hidden_neighbour_makes_no_prefix_ambiguous_for_any_tool(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    shared, hidden = await sharing_a_prefix(bob)
    await share(bob, shared, "alice", "write")
    prefix = shared[:8]
    assert hidden.startswith(prefix)
    assert (await read(alice, prefix))["id"] == shared
    assert (await alice.update_context(context_id=prefix, text="changed"))["context_id"] == shared
    words = await refusal(alice.delete_context(context_ids=[prefix]))
    assert words == f"Not authorized to delete context entries: {shared}"


@pytest.mark.parametrize("access", ("public", "user", "group"))
async def test_an_entry_that_becomes_hidden_leaves_no_trace(world: World, access: str) -> None:
    alice, bob = world.as_("alice", groups=("team",)), world.as_("bob")
    own = await alice.store(TEXT, **OWN)
    before = await reads(alice, own)
    theirs = await bob.store(TEXT, **OTHER, deduplicate=False)
    grant = {"context_id": theirs, "principal_id": "alice" if access == "user" else "team", "permission": "write"}
    if access == "public":
        await bob.update_context(context_id=theirs, visibility="public")
    else:
        await bob.share_context(**grant, principal_type=access)
    assert await alice.search() == [theirs, own]
    if access == "public":
        await bob.update_context(context_id=theirs, visibility="private")
    else:
        await bob.unshare_context(**grant, principal_type=access)
    assert await reads(alice, own) == before


async def test_nobody_sees_anything_in_a_store_full_of_other_peoples_entries(world: World) -> None:
    alice, stranger = (
        world.as_("alice"),
        world.as_("stranger", groups=("everyone", "public", "*"), roles=("admin",)),
    )
    ids = [await alice.store(f"text {number}", **OWN) for number in range(3)]
    assert await stranger.search() == []
    assert await stranger.get(*ids) == []
    assert (await stranger.list_threads())["threads"] == []
    statistics = await stranger.get_statistics()
    assert [statistics[name] for name in ("total_entries", "total_threads", "total_images", "unique_tags")] == [
        0
    ] * 4


async def test_names_that_look_like_the_rules_of_access_open_nothing(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("mine")
    for name in ("*", "user:alice", "group:team", "Alice", "alice ", "alice\u200b", "%", "' or true --", "null"):
        intruder = world.as_(name, groups=("alice", "user:alice", "*", "owner"), roles=("alice",))
        assert await intruder.get(entry_id) == [], name
        words = await refusal(intruder.update_context(context_id=entry_id, text="x"))
        assert words == f"Context entry with ID {entry_id} not found"
