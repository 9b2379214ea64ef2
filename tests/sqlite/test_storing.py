"""What storing promises: deduplication, batches, and that everything comes back as it went in."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from pgcontext.errors import AtIndex, PublishRefused, ReadOnlyPrincipal
from pgcontext.principal import Principal
from pgcontext.storage.sqlite.util import new_entry_id
from pgcontext.storage.values import AccessPolicy, EntryFilter, Image, NewEntry

ALICE = Principal("alice", ("red", "blue", "red"))
BOB = Principal("bob")
EVERYTHING = EntryFilter()
PIXEL = base64.b64encode(b"\x89PNG pixel").decode()
OTHER = base64.b64encode(b"\x89PNG other").decode()


async def texts(store, caller=ALICE):
    return [entry.text_content for entry in await store.search_entries(caller, EVERYTHING, 100, 0, 1000)]


async def test_a_repeated_text_merges_into_the_own_latest_entry(store, put):
    first = await put("hello")
    assert await put("hello") == first
    assert await texts(store) == ["hello"]


async def test_a_merge_unites_tags_and_lays_metadata_over_what_is_stored(store, put):
    entry_id = await put("hello", tags=("b", "a"), metadata={"x": 1, "kept": {"deep": True}})
    await put("hello", tags=("c", "a"), metadata={"x": 2})
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert entry.tags == ["a", "b", "c"]
    assert entry.metadata == {"x": 2, "kept": {"deep": True}}


async def test_a_merge_counts_the_version_up_only_when_something_differs(store, put):
    parts: dict[str, Any] = {"tags": ("a",), "metadata": {"x": 1}, "images": (Image(PIXEL, "image/png", ""),)}
    entry_id = await put("hello", **parts)
    (before,) = await store.get_entries(ALICE, [entry_id])
    await put("hello")
    await put("hello", **parts)
    (same,) = await store.get_entries(ALICE, [entry_id])
    assert same == before
    for changed in ({"tags": ("b",)}, {"metadata": {"x": True}}, {"images": (Image(OTHER, "image/png"),)}):
        await put("hello", **changed)
    (rights,) = await store.get_entry_rights(ALICE, [entry_id])
    assert rights.version == 4


async def test_a_merge_replaces_the_images_where_they_are_given(store, put):
    entry_id = await put("hello", images=(Image(PIXEL, "image/png"), Image(PIXEL, "image/png")))
    await put("hello")
    assert len(await store.list_images(ALICE, [entry_id])) == 2
    await put("hello", images=(Image(OTHER, "image/gif", "note"),))
    (image,) = await store.list_images(ALICE, [entry_id])
    assert (image.data, image.mime_type, image.metadata) == (b"\x89PNG other", "image/gif", "note")


async def test_a_merge_leaves_the_visibility_alone(store, put):
    entry_id = await put("hello")
    await put("hello", visibility="public")
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert entry.visibility == "private"


async def test_the_same_text_after_an_answer_is_a_new_turn(store, put):
    first = await put("ok")
    await put("done", source="agent")
    assert await put("ok") != first


async def test_a_hidden_answer_does_not_make_a_new_turn(store, put):
    first = await put("ok")
    await put("hidden", by=BOB, source="agent")
    assert await put("ok") == first
    await put("seen", by=BOB, source="agent", visibility="public")
    assert await put("ok") != first


async def test_an_earlier_text_repeated_is_a_new_entry(store, put):
    first = await put("one")
    await put("two")
    assert await put("one") != first


async def test_a_store_never_merges_into_the_entry_of_another_owner(store, put):
    theirs = await put("shared words", by=BOB, visibility="public")
    mine = await put("shared words")
    assert mine != theirs
    assert await put("shared words") == mine


async def test_the_readable_latest_entry_of_another_owner_stands_before_an_own_older_one(store, put):
    mine = await put("words")
    await put("other words", by=BOB, visibility="public")
    assert await put("words") != mine


async def test_a_hidden_entry_stands_before_nothing(store, put):
    mine = await put("words")
    await put("hidden words", by=BOB)
    assert await put("words") == mine


async def test_without_deduplication_every_store_inserts_and_a_later_one_can_merge(store, put):
    first = await put("words", deduplicate=False)
    second = await put("words", deduplicate=False)
    assert first != second
    assert await put("words") == second


async def test_items_of_a_batch_merge_into_earlier_ones(store):
    entries = [NewEntry("t", "user", "same", deduplicate=False), NewEntry("t", "user", "same", tags=("late",))]
    first, second = await store.store_entries(ALICE, entries, True)
    assert (first.is_new, second.is_new) == (True, False)
    assert first.entry_id == second.entry_id


async def test_eight_identical_stores_at_once_make_one_row(store):
    entry = NewEntry("t", "user", "once", metadata={"x": 1})
    for _ in range(5):
        outcomes = await asyncio.gather(*(store.store_entries(ALICE, [entry], True) for _ in range(8)))
        assert len({outcome.entry_id for (outcome,) in outcomes}) == 1
    assert await texts(store) == ["once"]


async def test_a_batch_lists_in_its_order_and_its_ids_sort_by_time(store):
    outcomes = await store.store_entries(ALICE, [NewEntry("t", "user", str(n)) for n in range(50)], True)
    assert await texts(store) == [str(n) for n in reversed(range(50))]
    ids = [outcome.entry_id for outcome in outcomes]
    assert ids == sorted(ids)


async def test_an_atomic_batch_with_a_refused_item_stores_nothing(open_store):
    store = await open_store(AccessPolicy(publish_role="publisher"))
    entries = [NewEntry("t", "user", "fine", tags=("a",)), NewEntry("t", "user", "bold", visibility="public")]
    with pytest.raises(AtIndex, match="requires the role 'publisher' at index 1") as refusal:
        await store.store_entries(ALICE, entries, True)
    assert isinstance(refusal.value.cause, PublishRefused)
    assert await texts(store) == []
    assert (await store.get_statistics(ALICE)).unique_tags == 0


async def test_a_batch_that_is_not_atomic_stores_the_rest(open_store):
    store = await open_store(AccessPolicy(publish_role="publisher"))
    entries = [NewEntry("t", "user", "bold", visibility="public"), NewEntry("t", "user", "fine")]
    refused, stored = await store.store_entries(ALICE, entries, False)
    assert (refused.index, refused.entry_id, type(refused.error)) == (0, None, PublishRefused)
    assert (stored.index, stored.is_new, stored.error) == (1, True, None)
    assert await texts(store) == ["fine"]


async def test_the_default_visibility_and_the_publish_role_bind_new_entries(open_store):
    store = await open_store(AccessPolicy(default_visibility="public", publish_role="publisher"))
    with pytest.raises(AtIndex):
        await store.store_entries(ALICE, [NewEntry("t", "user", "words")], True)
    await store.store_entries(Principal("pat", roles=("publisher",)), [NewEntry("t", "user", "words")], True)
    assert await texts(store, BOB) == ["words"]


async def test_the_groups_of_an_author_may_read_where_the_deployment_says_so(open_store):
    store = await open_store(AccessPolicy(author_group_grants=True))
    (outcome,) = await store.store_entries(ALICE, [NewEntry("t", "user", "words")], True)
    grants = await store.list_grants(ALICE, outcome.entry_id)
    assert [(g.principal_type, g.principal_id, g.permission, g.granted_by) for g in grants] == [
        ("group", "blue", "read", "alice"),
        ("group", "red", "read", "alice"),
    ]
    assert await texts(store, Principal("carl", ("blue",))) == ["words"]


async def test_the_anonymous_principal_may_not_write(open_store):
    store = await open_store(AccessPolicy(anonymous_principal="anonymous"))
    nobody = Principal("anonymous")
    for attempt in (
        store.store_entries(nobody, [], True),
        store.update_entries(nobody, [], False),
        store.delete_entries(nobody, ["0" * 32], None, None, None),
        store.share_entry(nobody, "0" * 32, "user", "bob", "read"),
        store.unshare_entry(nobody, "0" * 32, "user", "bob", "read"),
    ):
        with pytest.raises(ReadOnlyPrincipal):
            await attempt


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"ключ": "значение 😀 \u2028", "quote": "'\"\\", "control": "\t\n\x01"},
        {"int": 2**63 - 1, "least": -(2**63), "huge": 2**80, "zero": 0},
        {"float": 0.1, "tiny": 5e-324, "big": 1.7976931348623157e308, "whole": 1.0, "third": 1 / 3},
        {"nested": {"list": [1, "1", True, None, {"a": []}]}, "null": None, "": "empty key"},
    ],
)
async def test_metadata_comes_back_exactly(store, put, metadata):
    entry_id = await put("words", metadata=metadata)
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert json.dumps(entry.metadata) == json.dumps(metadata)


async def test_text_comes_back_exactly_and_is_cut_by_code_points(store, put):
    long = "é😀x" * 40_000
    entry_id = await put(long)
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert (entry.text_content, entry.is_text_content_truncated) == (long, False)
    for length, is_truncated in ((7, True), (119_999, True), (120_000, False)):
        (entry,) = await store.search_entries(ALICE, EVERYTHING, 10, 0, length)
        assert entry.text_content == long[:length]
        assert entry.is_text_content_truncated is is_truncated


async def test_a_large_text_and_a_large_image_come_back_exactly(store, put):
    data = bytes(range(256)) * 40_000
    entry_id = await put("w" * 5_000_000, images=(Image(base64.b64encode(data).decode(), "image/png"),))
    (entry,) = await store.get_entries(ALICE, [entry_id])
    (image,) = await store.list_images(ALICE, [entry_id])
    assert len(entry.text_content) == 5_000_000
    assert image.data == data
    assert entry.content_type == "multimodal"


async def test_a_store_in_memory_works_like_one_in_a_file(open_store):
    store = await open_store(path=":memory:")
    await store.store_entries(ALICE, [NewEntry("t", "user", "words", tags=("a",))], True)
    assert await texts(store) == ["words"]
    assert (await store.get_statistics(ALICE)).total_entries == 1
    assert store.connection_metrics().size == 1


def test_an_id_is_a_uuid_of_version_7_in_the_order_of_its_time():
    micros = 1_700_000_000_123_456
    entry_id = new_entry_id(micros)
    assert entry_id[:12] == f"{micros // 1000:012x}"
    assert entry_id[12] == "7"
    assert entry_id[16] in "89ab"
    assert int(entry_id[13:16], 16) == 456 * 4096 // 1000
    ids = [new_entry_id(micros + step) for step in range(5000)]
    assert ids == sorted(ids)
