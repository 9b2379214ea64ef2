"""list_ingest_state: the caller's own documents of a corpus, page by page."""

from __future__ import annotations

from typing import Any

from contract.helpers import refusal
from contract.test_sync import CORPUS, listed, store_document, store_documents
from support.world import World


async def test_a_page_holds_the_callers_own_entries_alone(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    for source_id in "abcabc":
        await store_document(bob, source_id, visibility="public")
        await store_document(alice, source_id)
    assert await listed(alice, limit=2) == ["a", "a"]
    page = await alice.list_ingest_state(thread_id=CORPUS, limit=6)
    assert (page["count"], page["next_cursor"]) == (6, None)


async def test_pages_go_through_every_entry_once_in_order(world: World) -> None:
    alice = world.as_("alice")
    names = [*"aabbbc", "\uffff", "😀", "😀"]
    expected = sorted(zip(names, await store_documents(alice, *names), strict=True))
    for limit in (1, 2, 3, 9, 200):
        found: list[tuple[str, str]] = []
        arguments: dict[str, Any] = {"limit": limit}
        for _ in range(-(-len(names) // limit)):
            page = await alice.list_ingest_state(thread_id=CORPUS, **arguments)
            assert page["count"] == len(page["entries"]) <= limit
            found += [(entry["source_id"], entry["context_id"]) for entry in page["entries"]]
            arguments["cursor"] = page["next_cursor"]
        assert arguments["cursor"] is None
        assert found == expected


async def test_a_page_begins_where_the_last_one_ended_whatever_happens_between(world: World) -> None:
    alice = world.as_("alice")
    ids = await store_documents(alice, *"bcde")
    page = await alice.list_ingest_state(thread_id=CORPUS, limit=2)
    await alice.delete_context(context_ids=ids[:2])
    await store_documents(alice, *"acd")
    assert await listed(alice, cursor=page["next_cursor"]) == ["c", "d", "d", "e"]


async def test_a_bad_cursor_is_refused(world: World) -> None:
    alice = world.as_("alice")
    await store_documents(alice, *"abc")
    cursor = (await alice.list_ingest_state(thread_id=CORPUS, limit=1))["next_cursor"]
    forged = [
        "",
        " ",
        "a",
        "=",
        cursor[:-1],
        cursor[1:],
        cursor + "A",
        cursor + "=",
        cursor + "\n",
        cursor.upper(),
    ]
    forged += [
        "AAAA" * 20,
        "😀",
        "%00",
        "é" * 44,
        "A" * 100_000,
        "../../etc",
        "[]",
        "null",
        5,
        ["a"],
        {"a": 1},
        True,
    ]
    forged += [
        cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :] for place in (0, 9, 30)
    ]
    for bad in forged:
        assert await refusal(alice.list_ingest_state(thread_id=CORPUS, cursor=bad)) == "invalid cursor", bad
    assert await refusal(alice.list_ingest_state(thread_id="kb:other", cursor=cursor)) == "invalid cursor"


async def test_a_cursor_of_somebody_else_shows_nothing_of_theirs(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await store_documents(alice, *"abc")
    await store_documents(bob, *"bd")
    cursor = (await alice.list_ingest_state(thread_id=CORPUS, limit=1))["next_cursor"]
    assert await listed(bob, cursor=cursor) == ["b", "d"]


async def test_pages_hold_1_to_200_entries(world: World) -> None:
    alice = world.as_("alice")
    await store_documents(alice, *(f"{number:03}" for number in range(201)))
    assert len(await listed(alice)) == 100
    page = await alice.list_ingest_state(thread_id=CORPUS, limit=200)
    assert page["count"] == 200
    assert await listed(alice, cursor=page["next_cursor"]) == ["200"]
    for limit in (0, 201, -1):
        assert "limit" in await refusal(alice.list_ingest_state(thread_id=CORPUS, limit=limit))
