"""update_context: what changes, what stays, and what two people who change the same entry get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from contract.helpers import IMAGE, OTHER_PIXEL, UNKNOWN_ID, grants, read, refusal, share
from pgcontext.principal import Principal
from pgcontext.storage.store import Store
from pgcontext.storage.values import EntryChange, EntryRights
from support.options import settings_for
from support.world import World, serving

OTHER_IMAGE = {"data": OTHER_PIXEL, "mime_type": "image/gif", "metadata": "{}"}
CONFLICT = (
    "Context entry with ID {id} was changed by someone else meanwhile; nothing was written. "
    "Read it again and repeat the update"
)


async def test_an_update_answers_with_the_id_and_the_fields_it_changed(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    updated = await alice.update_context(
        context_id=entry_id, text="changed", metadata={}, tags=["x"], images=[IMAGE], visibility="public"
    )
    assert updated.keys() == {"success", "context_id", "updated_fields", "message"}
    assert updated["success"] is True
    assert updated["context_id"] == entry_id
    assert sorted(updated["updated_fields"]) == ["images", "metadata", "tags", "text_content", "visibility"]
    patched = await alice.update_context(context_id=entry_id, metadata_patch={"a": 1})
    assert patched["updated_fields"] == ["metadata"]


@pytest.mark.parametrize(
    ("change", "changed"),
    (
        ({"text": " \n changed "}, {"text_content": "changed"}),
        ({"metadata": {"new": [1, {"a": None}]}}, {"metadata": {"new": [1, {"a": None}]}}),
        ({"metadata": {}}, {"metadata": {}}),
        ({"metadata_patch": {"new": 1, "old": None}}, {"metadata": {"kept": True, "new": 1}}),
        ({"tags": [" New ", "NEW", "a"]}, {"tags": ["a", "new"]}),
        ({"tags": []}, {"tags": []}),
        ({"images": [OTHER_IMAGE, IMAGE]}, {"images": [OTHER_IMAGE, IMAGE]}),
        ({"images": []}, {"images": [], "content_type": "text"}),
        ({"visibility": "public"}, {"visibility": "public"}),
        ({"text": "changed", "tags": ["x"]}, {"text_content": "changed", "tags": ["x"]}),
        ({"text": None, "tags": ["x"], "images": None}, {"tags": ["x"]}),
    ),
    ids=lambda value: str(value)[:30],
)
async def test_only_the_fields_given_change(world: World, change: dict[str, Any], changed: dict[str, Any]) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(
        "hello", source="user", metadata={"old": 1, "kept": True}, tags=["kept"], images=[IMAGE]
    )
    before = await read(alice, entry_id)
    await alice.update_context(context_id=entry_id, **change)
    after = await read(alice, entry_id)
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == before | changed


async def test_the_content_type_follows_the_images(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    for images, content_type in (([IMAGE], "multimodal"), ([], "text"), ([OTHER_IMAGE], "multimodal")):
        await alice.update_context(context_id=entry_id, images=images)
        assert (await read(alice, entry_id))["content_type"] == content_type
        assert await alice.search(content_type=content_type) == [entry_id]


async def test_an_update_without_any_field_is_refused(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    before = await read(alice, entry_id)
    for nothing in ({}, {"text": None}, {"metadata": None, "tags": None}):
        await refusal(alice.update_context(context_id=entry_id, **nothing))
    assert await read(alice, entry_id) == before


async def test_metadata_and_metadata_patch_exclude_each_other(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", metadata={"a": 1})
    words = await refusal(alice.update_context(context_id=entry_id, metadata={"b": 1}, metadata_patch={"c": 1}))
    assert "metadata" in words
    assert "metadata_patch" in words
    assert (await read(alice, entry_id))["metadata"] == {"a": 1}


@pytest.mark.parametrize("field", ("id", "thread_id", "source", "created_at", "owner"))
async def test_the_immutable_fields_cannot_be_given(world: World, field: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    before = await read(alice, entry_id)
    assert field in await refusal(alice.update_context(context_id=entry_id, text="x", **{field: "bob"}))
    assert await read(alice, entry_id) == before


MERGES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({"a": "foo"}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({"a": {"x": 1, "y": 2}}, {"a": {"x": None, "y": None}}, {"a": {}}),
    ({"a": [1, 2, 3]}, {"a": [None, 2]}, {"a": [None, 2]}),
    ({"a": {"b": 1}}, {"missing": None}, {"a": {"b": 1}}),
    ({"a": 1}, {}, {"a": 1}),
    ({"a": 1, "A": 2, "é": 3}, {"A": None, "e\u0301": 4}, {"a": 1, "é": 3, "e\u0301": 4}),
]


async def test_a_patch_is_a_json_merge_patch(world: World) -> None:
    alice = world.as_("alice")
    for number, (stored, patch, expected) in enumerate(MERGES):
        entry_id = await alice.store(f"text {number}", metadata=stored)
        await alice.update_context(context_id=entry_id, metadata_patch=patch)
        assert (await read(alice, entry_id))["metadata"] == expected


@pytest.mark.parametrize(
    ("change", "named"),
    (
        ({"text": " \n "}, "text"),
        ({"text": 5}, "text"),
        ({"tags": ["fine", " "]}, "tag"),
        ({"tags": [f"tag {number}" for number in range(101)]}, "tags"),
        ({"tags": ["x" * 129]}, "tag"),
        ({"metadata": {"status": "x" * 513}}, "status"),
        ({"metadata_patch": {"status": "x" * 513}}, "status"),
        ({"metadata_patch": {"technologies": ["react"] * 100}}, "technologies"),
        ({"metadata": ["a"]}, "metadata"),
        ({"metadata_patch": "a"}, "metadata_patch"),
        ({"images": [{"data": "?", "mime_type": "image/png"}]}, "images"),
        ({"visibility": "secret"}, "visibility"),
    ),
    ids=lambda value: str(value)[:30],
)
async def test_a_refused_update_changes_nothing(world: World, change: dict[str, Any], named: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", metadata={"a": 1}, tags=["x"], images=[IMAGE])
    before = await read(alice, entry_id)
    assert named in await refusal(alice.update_context(context_id=entry_id, **{"text": "changed"} | change))
    assert await read(alice, entry_id) == before


async def test_an_unreadable_entry_and_a_missing_one_are_refused_alike(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    hidden = await bob.store("hidden")
    for change in ({"text": "x"}, {"metadata_patch": {"a": 1}}, {"visibility": "public"}):
        for entry_id in (hidden, UNKNOWN_ID):
            words = await refusal(alice.update_context(context_id=entry_id, **change))
            assert words == f"Context entry with ID {entry_id} not found"


async def test_an_update_leaves_the_grants_and_a_grant_leaves_the_entry(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello")
    before = await read(alice, entry_id)
    await share(alice, entry_id, "bob", "write")
    await alice.unshare_context(context_id=entry_id, principal_type="user", principal_id="x", permission="read")
    assert await read(alice, entry_id) == before
    await bob.update_context(context_id=entry_id, text="changed", tags=["x"])
    await alice.update_context(context_id=entry_id, visibility="public")
    await alice.update_context(context_id=entry_id, visibility="private")
    assert await grants(alice, entry_id) == [("user", "bob", "write")]


async def test_a_write_grantee_does_not_become_the_owner(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob", "write")
    await bob.update_context(context_id=entry_id, text="changed")
    assert (await read(bob, entry_id))["is_owner"] is False
    assert (await read(alice, entry_id))["is_owner"] is True


async def test_concurrent_patches_of_one_entry_are_all_applied(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    patches = [{f"key{number}": number} for number in range(8)]
    await asyncio.gather(*(alice.update_context(context_id=entry_id, metadata_patch=patch) for patch in patches))
    assert (await read(alice, entry_id))["metadata"] == {f"key{number}": number for number in range(8)}


class Interfering:
    """A store in which somebody else changes the entry right after its version was read."""

    def __init__(self, store: Store, **change: Any) -> None:
        self._store = store
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_entry_rights(self, caller: Principal, entry_ids: Sequence[str]) -> list[EntryRights]:
        rights = await self._store.get_entry_rights(caller, entry_ids)
        changes = [EntryChange(entry_id, **self._change) for entry_id in entry_ids]
        await self._store.update_entries(caller, changes, atomic=True)
        return rights


async def test_a_second_update_from_the_same_version_is_a_conflict(
    mode: str, make_store: Callable[..., Any]
) -> None:
    store = Interfering(make_store(mode), text="first", metadata={"a": 1})
    async with serving(settings_for(), store) as world:
        alice = world.as_("alice of the conflict")
        entry_id = await alice.store("hello", deduplicate=False)
        for change in ({"text": "second"}, {"metadata": {"b": 2}}, {"tags": ["b"]}, {"images": [IMAGE]}):
            assert await refusal(alice.update_context(context_id=entry_id, **change)) == CONFLICT.format(
                id=entry_id
            )
            words = await refusal(alice.update_context_batch(updates=[{"context_id": entry_id, **change}]))
            assert words == CONFLICT.format(id=entry_id) + " at index 0"
        entry = await read(alice, entry_id)
        assert (entry["text_content"], entry["metadata"], entry["tags"], entry["images"]) == (
            "first",
            {"a": 1},
            [],
            [],
        )


async def test_a_patch_is_retried_on_the_new_version(mode: str, make_store: Callable[..., Any]) -> None:
    store = Interfering(make_store(mode), metadata={"a": 1})
    async with serving(settings_for(), store) as world:
        alice = world.as_("alice of the conflict")
        entry_id = await alice.store("hello", deduplicate=False, metadata={"a": 1})
        await alice.update_context(context_id=entry_id, metadata_patch={"b": 2})
        assert (await read(alice, entry_id))["metadata"] == {"a": 1, "b": 2}
