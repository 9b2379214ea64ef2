"""What updates, deletions and grants promise."""

from __future__ import annotations

import asyncio
import base64

import pytest

from pgcontext.errors import (
    AtIndex,
    DeleteRefused,
    EntryNotFound,
    ModifyRefused,
    NotOwner,
    PublishRefused,
    ShareWithAnonymous,
    ShareWithOwner,
    VersionConflict,
    VisibilityRefused,
)
from pgcontext.principal import Principal
from pgcontext.storage.sqlite.util import merge_patch
from pgcontext.storage.values import AccessPolicy, EntryChange, Image, NewEntry, Unshared

ALICE = Principal("alice")
BOB = Principal("bob")
MISSING = "0" * 32


async def refusal(store, caller, change):
    (outcome,) = await store.update_entries(caller, [change], False)
    return type(outcome.error)


async def test_of_two_changes_from_the_same_version_one_wins(store, put):
    entry_id = await put("one")
    outcomes = await asyncio.gather(
        *(
            store.update_entries(ALICE, [EntryChange(entry_id, expected_version=1, text=text)], False)
            for text in ("two", "three")
        )
    )
    assert sorted(str(type(outcome.error).__name__) for (outcome,) in outcomes) == ["NoneType", "VersionConflict"]
    (rights,) = await store.get_entry_rights(ALICE, [entry_id])
    assert rights.version == 2


async def test_patches_without_an_expected_version_are_all_applied(store, put):
    entry_id = await put("one")
    patches = [EntryChange(entry_id, metadata_patch={f"key{n}": n}) for n in range(10)]
    await asyncio.gather(*(store.update_entries(ALICE, [patch], True) for patch in patches))
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert entry.metadata == {f"key{n}": n for n in range(10)}


async def test_a_change_leaves_alone_what_it_does_not_name(store, put):
    image = Image(base64.b64encode(b"data").decode(), "image/png")
    entry_id = await put("one", tags=("a",), metadata={"x": 1}, images=(image,))
    (before,) = await store.get_entries(ALICE, [entry_id])
    await store.update_entries(ALICE, [EntryChange(entry_id, text="two")], True)
    (after,) = await store.get_entries(ALICE, [entry_id])
    assert (after.tags, after.metadata, after.content_type) == (["a"], {"x": 1}, "multimodal")
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at
    assert len(await store.list_images(ALICE, [entry_id])) == 1


async def test_empty_parts_empty_the_entry(store, put):
    image = Image(base64.b64encode(b"data").decode(), "image/png")
    entry_id = await put("one", tags=("a",), metadata={"x": 1}, images=(image,))
    await store.update_entries(ALICE, [EntryChange(entry_id, tags=(), metadata={}, images=())], True)
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert (entry.tags, entry.metadata, entry.content_type) == ([], {}, "text")


async def test_a_changed_text_can_be_deduplicated_against(store, put):
    entry_id = await put("one")
    await store.update_entries(ALICE, [EntryChange(entry_id, text="two")], True)
    assert await put("two") == entry_id
    assert await put("one") != entry_id


async def test_only_another_text_clears_the_summary(store, put):
    entry_id = await put("one")
    await store._database.write(lambda connection: connection.execute("update entry_text set summary = 'short'"))
    for text, summary in (("one", "short"), ("two", None)):
        await store.update_entries(ALICE, [EntryChange(entry_id, text=text)], True)
        (entry,) = await store.get_entries(ALICE, [entry_id])
        assert entry.summary == summary


async def test_refusals_of_an_update_come_in_their_order(open_store):
    store = await open_store(AccessPolicy(publish_role="publisher"))
    (outcome,) = await store.store_entries(ALICE, [NewEntry("t", "user", "words")], True)
    entry_id = outcome.entry_id
    change = EntryChange(entry_id, expected_version=9, visibility="public")
    assert await refusal(store, BOB, change) is EntryNotFound
    await store.share_entry(ALICE, entry_id, "user", "bob", "read")
    assert await refusal(store, BOB, change) is ModifyRefused
    await store.share_entry(ALICE, entry_id, "user", "bob", "write")
    assert await refusal(store, BOB, change) is VisibilityRefused
    assert await refusal(store, ALICE, change) is VersionConflict
    assert await refusal(store, ALICE, EntryChange(entry_id, visibility="public")) is PublishRefused
    assert await refusal(store, BOB, EntryChange(entry_id, text="bob's words")) is type(None)


async def test_an_atomic_batch_of_updates_is_undone_as_a_whole(store, put):
    entry_id = await put("one", tags=("a",))
    changes = [EntryChange(entry_id, text="two", tags=("b",)), EntryChange(MISSING, text="three")]
    with pytest.raises(AtIndex, match=f"Context entry {MISSING} not found at index 1"):
        await store.update_entries(ALICE, changes, True)
    (entry,) = await store.get_entries(ALICE, [entry_id])
    assert (entry.text_content, entry.tags) == ("one", ["a"])
    written, refused = await store.update_entries(ALICE, changes, False)
    assert (written.entry_id, written.is_new, written.error) == (entry_id, False, None)
    assert isinstance(refused.error, EntryNotFound)


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        # the examples of RFC 7396, appendix A, that concern objects
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_is_that_of_rfc_7396(target, patch, merged):
    assert merge_patch(target, patch) == merged


async def test_only_the_owner_deletes_and_a_refused_delete_deletes_nothing(store, put):
    mine = await put("mine", by=BOB)
    hidden = await put("hidden")
    public = [await put(f"public {n}", visibility="public", deduplicate=False) for n in range(2)]
    named = [public[1], mine, hidden, public[0], public[1]]
    with pytest.raises(DeleteRefused) as refused:
        await store.delete_entries(BOB, named, None, None, None)
    assert refused.value.entry_ids == [public[1], public[0]]
    assert await store.delete_entries(BOB, [mine, hidden, MISSING], None, None, None) == 1
    assert len(await store.get_entries(ALICE, [hidden, *public])) == 3


async def test_criteria_narrow_what_is_deleted_and_what_is_refused(store, put):
    public = await put("public", visibility="public")
    mine = await put("mine", by=BOB, source="agent")
    other = await put("other", by=BOB, source="agent", thread_id="u")
    assert await store.delete_entries(BOB, None, None, None, None) == 0
    assert await store.delete_entries(BOB, [], None, None, None) == 0
    assert await store.delete_entries(BOB, [public, mine], None, "agent", 1) == 0
    assert await store.delete_entries(BOB, None, ["t", "u"], "user", None) == 0
    assert await store.delete_entries(BOB, [public, mine], None, "agent", None) == 1
    assert await store.delete_entries(BOB, None, ["u"], "agent", 10**9) == 0
    assert await store.delete_entries(BOB, None, ["t", "u"], None, 0) == 1
    assert await store.get_entries(BOB, [mine, other]) == []
    assert len(await store.get_entries(BOB, [public])) == 1


async def test_a_deleted_entry_takes_everything_of_it_along(store, put):
    image = Image(base64.b64encode(b"data").decode(), "image/png")
    entry_id = await put("one", tags=("a",), images=(image,))
    await store.share_entry(ALICE, entry_id, "user", "bob", "read")
    assert await store.delete_entries(ALICE, [entry_id], None, None, None) == 1
    for table in ("entry", "entry_text", "entry_tag", "entry_image", "entry_grant"):
        query = f"select count(*) from {table}"
        assert await store._database.read(lambda connection, query=query: connection.execute(query).get) == 0


async def test_grants_are_separate_and_idempotent(store, put):
    entry_id = await put("one")
    (before,) = await store.get_entries(ALICE, [entry_id])
    assert await store.share_entry(ALICE, entry_id, "user", "bob", "write") is True
    assert await store.share_entry(ALICE, entry_id, "user", "bob", "write") is False
    assert await store.share_entry(ALICE, entry_id, "user", "bob", "read") is True
    assert await store.share_entry(ALICE, entry_id, "group", "alice", "read") is True
    grants = await store.list_grants(ALICE, entry_id)
    assert [(g.principal_type, g.principal_id, g.permission) for g in grants] == [
        ("group", "alice", "read"),
        ("user", "bob", "read"),
        ("user", "bob", "write"),
    ]
    assert await store.unshare_entry(ALICE, entry_id, "user", "bob", "read") == Unshared(True, ["write"])
    assert await store.unshare_entry(ALICE, entry_id, "user", "bob", "read") == Unshared(False, ["write"])
    assert await store.get_entries(ALICE, [entry_id]) == [before]


async def test_only_the_owner_handles_grants(open_store):
    store = await open_store(AccessPolicy(anonymous_principal="anonymous"))
    (outcome,) = await store.store_entries(ALICE, [NewEntry("t", "user", "words")], True)
    entry_id = outcome.entry_id
    with pytest.raises(ShareWithOwner):
        await store.share_entry(ALICE, entry_id, "user", "alice", "read")
    with pytest.raises(ShareWithAnonymous):
        await store.share_entry(ALICE, entry_id, "user", "anonymous", "read")
    with pytest.raises(EntryNotFound):
        await store.list_grants(BOB, entry_id)
    await store.share_entry(ALICE, entry_id, "user", "bob", "write")
    for attempt, phrase in (
        (store.share_entry(BOB, entry_id, "user", "carl", "read"), "share"),
        (store.unshare_entry(BOB, entry_id, "user", "bob", "write"), "unshare"),
        (store.list_grants(BOB, entry_id), "list the grants of"),
    ):
        with pytest.raises(NotOwner, match=f"Not authorized to {phrase} context entry with ID {entry_id}"):
            await attempt
