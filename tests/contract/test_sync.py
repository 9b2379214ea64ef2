"""plan_context_sync and list_ingest_state: what a manifest changes in the caller's own documents of a corpus."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from contract.helpers import ServeWith, refusal, share
from support.world import Person, World

CORPUS = "kb:handbook"
AT = "2026-03-14T10:00:00Z"
PLAN = {"creates", "updates", "deletes", "deletes_total", "unchanged_count", "kept_count", "foreign_count"}
NOTHING = {
    "thread_id": CORPUS,
    "creates": [],
    "updates": [],
    "deletes": [],
    "deletes_total": 0,
    "unchanged_count": 0,
    "kept_count": 0,
    "foreign_count": 0,
}
IN_CODE_POINT_ORDER = [
    "A",
    "Z",
    "a",
    "a/b",
    "ab",
    "é",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U00010000",
    "😀",
    "\U0010ffff",
]


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def item(source_id: str, text: str = "text", meta: str = "meta") -> dict[str, Any]:
    return {"source_id": source_id, "text_digest": digest(text), "meta_digest": digest(meta)}


def keep(source_id: str) -> dict[str, Any]:
    return {"source_id": source_id, "keep": True}


def block(source_id: str, meta: str = "meta", **parts: Any) -> dict[str, Any]:
    return {"scope": CORPUS, "source_id": source_id, "meta_digest": digest(meta), "synced_at": AT} | parts


async def store_document(
    person: Person, source_id: str, text: str = "text", meta: str = "meta", **arguments: Any
) -> str:
    """Store a document as a sync would; its id."""
    arguments = {"metadata": {"ingest": block(source_id, meta)}, "thread_id": CORPUS} | arguments
    return await person.store(text, deduplicate=False, **arguments)


async def store_documents(person: Person, *source_ids: str) -> list[str]:
    """Store documents in batches; their ids."""
    entries = [
        {
            "thread_id": CORPUS,
            "source": "agent",
            "text": "text",
            "deduplicate": False,
            "metadata": {"ingest": block(source_id)},
        }
        for source_id in source_ids
    ]
    ids: list[str] = []
    for begin in range(0, len(entries), 100):
        stored = await person.store_context_batch(entries=entries[begin : begin + 100])
        ids += [result["context_id"] for result in stored["results"]]
    return ids


async def plan(person: Person, *manifest: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    arguments = {"thread_id": CORPUS, "allow_empty_manifest": True} | arguments
    return await person.plan_context_sync(manifest=list(manifest), **arguments)


async def listed(person: Person, **arguments: Any) -> list[str]:
    """The source ids of a page."""
    page = await person.list_ingest_state(thread_id=CORPUS, **arguments)
    return [entry["source_id"] for entry in page["entries"]]


async def test_a_plan_has_exactly_the_parts_of_the_contract(world: World) -> None:
    alice = world.as_("alice")
    same = await store_document(alice, "same")
    assert await plan(alice, item("same"), item("new")) == NOTHING | {"creates": [1], "unchanged_count": 1}
    assert await plan(alice, item("new")) == NOTHING | {
        "creates": [0],
        "deletes": [{"context_id": same, "source_id": "same", "reason": "absent"}],
        "deletes_total": 1,
    }


async def test_an_update_says_what_differs(world: World) -> None:
    alice = world.as_("alice")
    ids = [await store_document(alice, source_id) for source_id in "abcd"]
    planned = await plan(alice, item("d", "new", "new"), item("a"), item("c", meta="new"), item("b", text="new"))
    assert planned == NOTHING | {
        "updates": [
            {"index": 0, "context_id": ids[3], "change": "both"},
            {"index": 2, "context_id": ids[2], "change": "metadata"},
            {"index": 3, "context_id": ids[1], "change": "text"},
        ],
        "unchanged_count": 1,
    }


async def test_text_digests_are_those_of_the_text_without_surrounding_white_space(world: World) -> None:
    alice = world.as_("alice")
    await store_document(alice, "a", text=" \n wörd 😀\r\nline \n")
    assert (await plan(alice, item("a", text="wörd 😀\r\nline")))["unchanged_count"] == 1


async def test_digests_are_compared_whatever_the_case_of_their_letters(world: World) -> None:
    alice = world.as_("alice")
    await store_document(alice, "a", metadata={"ingest": block("a", meta_digest=digest("meta").upper())})
    shouted = item("a") | {"text_digest": digest("text").upper()}
    assert (await plan(alice, shouted))["unchanged_count"] == 1
    assert (await plan(alice, item("a") | {"meta_digest": digest("meta").upper()}))["unchanged_count"] == 1


async def test_a_keep_item_changes_nothing_of_its_source(world: World) -> None:
    alice = world.as_("alice")
    await store_documents(alice, "twice", "twice", "once")
    assert await plan(alice, keep("twice"), keep("once"), keep("never")) == NOTHING | {"kept_count": 3}
    assert await plan(alice, item("once"), keep("twice")) == NOTHING | {"unchanged_count": 1, "kept_count": 1}


async def test_of_duplicates_the_one_with_the_text_survives_then_the_metadata_then_the_newest(
    world: World,
) -> None:
    alice = world.as_("alice")
    other = await store_document(alice, "a", "old text", "meta")
    same_text = await store_document(alice, "a", "text", "old meta")
    same_meta = await store_document(alice, "a", "old text", "meta")
    newest = await store_document(alice, "a", "old text", "old meta")

    def duplicates(*ids: str) -> dict[str, Any]:
        deletes = [{"context_id": entry_id, "source_id": "a", "reason": "duplicate"} for entry_id in sorted(ids)]
        return NOTHING | {"deletes": deletes, "deletes_total": 3}

    for described, survivor, change in (
        (item("a"), same_text, "metadata"),
        (item("a", "text", "old meta"), same_text, None),
        (item("a", "new text"), same_meta, "text"),
        (item("a", "new text", "new meta"), newest, "both"),
    ):
        expected = duplicates(*{other, same_text, same_meta, newest} - {survivor})
        if change:
            expected["updates"] = [{"index": 0, "context_id": survivor, "change": change}]
        else:
            expected["unchanged_count"] = 1
        assert await plan(alice, described) == expected


async def test_at_most_100_deletes_are_listed_in_order_and_all_are_counted(world: World) -> None:
    alice = world.as_("alice")
    names = [f"{number % 70:03}" for number in range(140)]
    ids = await store_documents(alice, *names)
    planned = await plan(alice, item("000"))
    assert planned["deletes_total"] == 139
    expected = sorted(zip(names, ids, strict=True))[:101]
    reasons = [(entry["source_id"], entry["context_id"]) for entry in planned["deletes"]]
    survivor = ids[70]
    assert reasons == [pair for pair in expected if pair[1] != survivor]
    assert [entry["reason"] for entry in planned["deletes"]] == ["duplicate"] + ["absent"] * 99
    total = planned["deletes_total"]
    while planned["deletes"]:
        deleted = await alice.delete_context_batch(context_ids=[row["context_id"] for row in planned["deletes"]])
        total -= deleted["deleted_count"]
        planned = await plan(alice, item("000"))
    assert (total, planned) == (0, NOTHING | {"unchanged_count": 1})


async def test_sources_compare_by_code_point(world: World) -> None:
    alice = world.as_("alice")
    await store_documents(alice, *reversed(IN_CODE_POINT_ORDER))
    assert await listed(alice) == IN_CODE_POINT_ORDER
    planned = await plan(alice)
    assert [entry["source_id"] for entry in planned["deletes"]] == IN_CODE_POINT_ORDER
    for place, bound in enumerate(IN_CODE_POINT_ORDER):
        assert (await plan(alice, source_id_after=bound))["deletes_total"] == len(IN_CODE_POINT_ORDER) - place - 1
        assert (await plan(alice, source_id_through=bound))["deletes_total"] == place + 1


async def test_a_range_leaves_out_its_lower_and_holds_its_upper_bound(world: World) -> None:
    alice = world.as_("alice")
    await store_documents(alice, *"abcdef")
    planned = await plan(alice, item("c"), item("dd"), source_id_after="b", source_id_through="e")
    assert (planned["creates"], planned["unchanged_count"], planned["deletes_total"]) == ([1], 1, 2)
    assert [entry["source_id"] for entry in planned["deletes"]] == ["d", "e"]


async def test_an_empty_manifest_must_be_confirmed(world: World) -> None:
    alice = world.as_("alice")
    await store_documents(alice, "a", "b", "c")
    words = await refusal(alice.plan_context_sync(thread_id=CORPUS, manifest=[]))
    assert "allow_empty_manifest" in words
    planned = await alice.plan_context_sync(
        thread_id=CORPUS, manifest=[], allow_empty_manifest=True, source_id_after="a"
    )
    assert planned["deletes_total"] == 2


GOOD = item("a")
SHA = digest("x")
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "bounds the wrong way round": ({"source_id_after": "b", "source_id_through": "a"}, "source_id_after"),
    "equal bounds": ({"source_id_after": "a", "source_id_through": "a"}, "source_id_after"),
    "bounds in UTF-16 order": (
        {"source_id_after": "\U00010000", "source_id_through": "\uffff"},
        "source_id_after",
    ),
    "no manifest": ({"manifest": None}, "manifest"),
    "an empty manifest": ({"manifest": []}, "allow_empty_manifest"),
    "a source named twice": ({"manifest": [GOOD, item("b"), keep("a")]}, "manifest[2]"),
    "a source at the lower bound": ({"source_id_after": "a"}, "manifest[0]"),
    "a source before the range": ({"source_id_after": "b"}, "manifest[0]"),
    "a source after the range": ({"manifest": [GOOD, item("c")], "source_id_through": "b"}, "manifest[1]"),
    "more than 1,000 items": ({"manifest": [item(f"{number}") for number in range(1001)]}, "1000"),
    "a short digest": ({"manifest": [GOOD | {"text_digest": SHA[:63]}]}, "manifest[0].text_digest"),
    "a long digest": ({"manifest": [GOOD | {"meta_digest": SHA + "0"}]}, "manifest[0].meta_digest"),
    "a digest of other letters": ({"manifest": [GOOD | {"meta_digest": "g" * 64}]}, "manifest[0].meta_digest"),
    "a digest of other digits": ({"manifest": [GOOD | {"meta_digest": "٣" * 64}]}, "manifest[0].meta_digest"),
    "a digest with a line end": ({"manifest": [GOOD | {"text_digest": SHA + "\n"}]}, "manifest[0].text_digest"),
    "a keep item with a digest": ({"manifest": [keep("a") | {"text_digest": SHA}]}, "manifest[0]"),
    "an item without meta_digest": ({"manifest": [{"source_id": "a", "text_digest": SHA}]}, "manifest[0]"),
    "an item without text_digest": ({"manifest": [{"source_id": "a", "meta_digest": SHA}]}, "manifest[0]"),
    "an item without anything": ({"manifest": [{"source_id": "a", "keep": False}]}, "manifest[0]"),
    "an item without a source": ({"manifest": [GOOD, {"keep": True}]}, "manifest[1].source_id"),
    "an item with another key": ({"manifest": [GOOD | {"path": "/a"}]}, "manifest[0].path"),
    "an empty source": ({"manifest": [item("")]}, "manifest[0].source_id"),
    "a long source": ({"manifest": [item("a" * 257)]}, "manifest[0].source_id"),
    "a source that cannot be stored": ({"manifest": [item("a\x00")]}, "manifest[0].source_id"),
    "an item that is none": ({"manifest": ["a"]}, "manifest[0]"),
    "an empty bound": ({"source_id_after": ""}, "source_id_after"),
    "a long bound": ({"source_id_through": "a" * 257}, "source_id_through"),
    "a long thread": ({"thread_id": "t" * 257}, "thread_id"),
}


@pytest.mark.parametrize("fault", WRONG)
async def test_wrong_arguments_are_refused_before_any_read(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    async def read(*_arguments: Any) -> None:
        pytest.fail("the storage was read")

    monkeypatch.setattr(type(world.store), "_read", read)
    changes, named = WRONG[fault]
    words = await refusal(
        world.as_("alice").plan_context_sync(**{"thread_id": CORPUS, "manifest": [GOOD]} | changes)
    )
    assert named in words


async def test_the_largest_manifest_with_the_longest_names_is_planned(world: World) -> None:
    world_of_sources = [f"{number:04}" + "😀" * 252 for number in range(1000)]
    alice = world.as_("a" * 256)
    planned = await plan(alice, *map(item, world_of_sources), thread_id="🧵" * 256)
    assert planned["creates"] == list(range(1000))


async def test_the_longest_names_make_a_document(world: World) -> None:
    person, thread_id, source_id = world.as_("👤" * 256), "\\x🧵\\" * 64, "😀" * 256
    metadata = {"ingest": block(source_id, scope=thread_id)}
    entry_id = await store_document(person, source_id, metadata=metadata, thread_id=thread_id)
    page = await person.list_ingest_state(thread_id=thread_id)
    assert [entry["context_id"] for entry in page["entries"]] == [entry_id]
    assert (await plan(person, item(source_id), thread_id=thread_id))["unchanged_count"] == 1


VALID: list[dict[str, Any]] = [
    block("a"),
    block(" "),
    block("😀" * 256),
    block("a", synced_at="2024-02-29T23:59:59+00:00"),
    block("a", synced_at="2000-02-29T00:00:00.123456Z"),
    block("a", synced_at="9999-12-31T23:59:59.999999999+00:00"),
    block("a", synced_at="0001-01-01T00:00:00.1Z"),
    block("a", meta_digest="0123456789abcdefABCDEF" + "0" * 42),
]
MALFORMED: list[Any] = [
    *(None, True, 1, "text", [], [block("a")], {}, ["scope", "source_id", "meta_digest", "synced_at"]),
    *({name: part for name, part in block("a").items() if name != left_out} for left_out in block("a")),
    *(block("a") | {name: wrong} for name in block("a") for wrong in ("", None, 1, True, ["a"], {"a": "b"}, [])),
    block("a", extra="part"),
    block("a", scope="kb:other"),
    block("a", scope=CORPUS.upper()),
    block("a", scope=[CORPUS]),
    block("a" * 257),
    block("a", meta_digest="a" * 63),
    block("a", meta_digest="a" * 65),
    block("a", meta_digest="g" * 64),
    block("a", meta_digest="a" * 64 + "\n"),
    block("a", meta_digest="٣" * 64),
    *(
        block("a", synced_at=moment)
        for moment in (
            *("2026-03-14", "2026-03-14T10:00:00", "2026-03-14T10:00:00+01:00", "2026-03-14T10:00:00-00:00"),
            *("2026-03-14 10:00:00Z", "2026-03-14t10:00:00z", "20260314T100000Z", "2026-03-14T10:00Z", "now"),
            *("2026-02-29T10:00:00Z", "1900-02-29T10:00:00Z", "2026-04-31T10:00:00Z", "2026-13-01T10:00:00Z"),
            *("2026-00-10T10:00:00Z", "2026-01-00T10:00:00Z", "2026-01-32T10:00:00Z", "0000-01-01T00:00:00Z"),
            *("2026-03-14T24:00:00Z", "2026-03-14T10:60:00Z", "2026-03-14T10:00:60Z", "10000-01-01T00:00:00Z"),
            *("2026-03-14T10:00:00.Z", "2026-03-14T10:00:00.1234567890Z", "2026-03-14T10:00:00.1 Z", f"{AT}\n"),
            *(
                f" {AT}",
                f"{AT}Z",
                "2026-03-14T10:00:00.+00:00",
                "2026-03-14T10:00:00.1Z+00:00",
                "٢026-03-14T10:00:00Z",
            ),
        )
    ),
]


async def test_a_valid_block_makes_a_managed_entry(world: World) -> None:
    alice = world.as_("alice")
    for valid in VALID:
        entry_id = await store_document(alice, "", metadata={"ingest": valid, "other": 1})
        (entry,) = (await alice.list_ingest_state(thread_id=CORPUS))["entries"]
        assert entry == {
            "context_id": entry_id,
            "source_id": valid["source_id"],
            "text_digest": digest("text"),
            "meta_digest": valid["meta_digest"],
            "synced_at": valid["synced_at"],
        }
        await alice.delete_context(context_ids=[entry_id])


async def test_a_malformed_block_is_ordinary_metadata(world: World) -> None:
    alice = world.as_("alice")
    entries = [
        {
            "thread_id": CORPUS,
            "source": "agent",
            "text": "text",
            "metadata": {"ingest": malformed},
            "deduplicate": False,
        }
        for malformed in MALFORMED
    ]
    for begin in range(0, len(entries), 100):
        await alice.store_context_batch(entries=entries[begin : begin + 100])
    page = await alice.list_ingest_state(thread_id=CORPUS)
    assert page == {"thread_id": CORPUS, "entries": [], "count": 0, "next_cursor": None}
    assert await plan(alice, item("a")) == NOTHING | {"creates": [0]}
    found = await alice.search_context(thread_id=CORPUS, limit=100, metadata_filters=[])
    assert found["count"] == min(100, len(MALFORMED))


async def test_entries_follow_their_blocks(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await store_document(alice, "a")
    await alice.update_context(context_id=entry_id, metadata_patch={"ingest": {"source_id": "b"}})
    assert await listed(alice) == ["b"]
    await alice.update_context(context_id=entry_id, metadata_patch={"ingest": {"note": "mine"}})
    assert await listed(alice) == []
    await alice.update_context(context_id=entry_id, metadata={"ingest": block("c")})
    assert await listed(alice) == ["c"]
    await alice.update_context(context_id=entry_id, metadata={})
    assert await listed(alice) == []


async def test_another_thread_is_another_corpus(world: World) -> None:
    alice = world.as_("alice")
    await store_document(alice, "a")
    await store_document(alice, "a", thread_id="kb:other")
    await store_document(alice, "b", thread_id="kb:other", metadata={"ingest": block("b", scope="kb:other")})
    assert await listed(alice) == ["a"]
    assert (await plan(alice, item("b")))["creates"] == [0]
    other = await alice.list_ingest_state(thread_id="kb:other")
    assert [entry["source_id"] for entry in other["entries"]] == ["b"]


async def test_entries_of_others_are_only_counted_and_only_readable_ones(world: World) -> None:
    alice, bob, carol = world.as_("alice"), world.as_("bob", groups=("team",)), world.as_("carol")
    private = await store_document(alice, "a")
    await store_document(alice, "b", visibility="public")
    for entry_id, name, kind in (
        (await store_document(alice, "c"), "bob", "user"),
        (await store_document(alice, "d"), "team", "group"),
    ):
        await share(alice, entry_id, name, "write", kind)
    own = await store_document(bob, "a")
    everything = [item(source_id) for source_id in "abcd"]
    assert await plan(alice, *everything) == NOTHING | {"unchanged_count": 4}
    assert await plan(bob, *everything) == NOTHING | {
        "creates": [1, 2, 3],
        "unchanged_count": 1,
        "foreign_count": 3,
    }
    assert await plan(carol, *everything) == NOTHING | {"creates": [0, 1, 2, 3], "foreign_count": 1}
    planned = await plan(bob, source_id_after="b")
    assert planned == NOTHING | {"foreign_count": 2}
    assert [row["context_id"] for row in (await plan(bob))["deletes"]] == [own]
    assert (await plan(bob, item("a", "new")))["updates"][0]["context_id"] == own != private


async def test_the_anonymous_principal_may_plan(serve_with: ServeWith) -> None:
    async with serve_with(access_control_anonymous_principal="anonymous") as world:
        await store_document(world.as_("alice"), "a", visibility="public")
        anonymous = world.as_("anonymous")
        assert await plan(anonymous, item("a")) == NOTHING | {"creates": [0], "foreign_count": 1}
        assert await listed(anonymous) == []


@pytest.mark.parametrize("value, offered", [("auto", True), ("true", True), ("false", False)])
async def test_the_sync_tools_can_be_left_out(serve_with: ServeWith, value: str, offered: bool) -> None:
    async with serve_with(enable_context_sync=value) as world:
        tools = {tool.name for tool in (await world.client.list_tools()).tools}
        assert ({"plan_context_sync", "list_ingest_state"} <= tools) is offered
        assert (await world.as_("alice").call("list_ingest_state", thread_id=CORPUS)).is_error is not offered
