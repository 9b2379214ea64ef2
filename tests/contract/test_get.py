"""get_context_by_ids: whole entries, in the order asked for, without a trace of what is hidden."""

from __future__ import annotations

import pytest

from contract.helpers import IMAGE, UNKNOWN_ID, OnStorage, ServeWith, read, refusal, share
from support.world import World

FIELDS = {
    "id",
    "thread_id",
    "source",
    "content_type",
    "text_content",
    "metadata",
    "tags",
    "images",
    "created_at",
    "updated_at",
    "visibility",
    "is_owner",
}


async def test_an_entry_has_exactly_the_fields_of_the_contract(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(
        "hello", thread_id="project", source="user", tags=["x"], metadata={"a": 1}, images=[IMAGE]
    )
    entry = await read(alice, entry_id)
    assert entry.keys() == FIELDS
    assert {name: entry[name] for name in FIELDS - {"created_at", "updated_at"}} == {
        "id": entry_id,
        "thread_id": "project",
        "source": "user",
        "content_type": "multimodal",
        "text_content": "hello",
        "metadata": {"a": 1},
        "tags": ["x"],
        "images": [IMAGE],
        "visibility": "private",
        "is_owner": True,
    }


async def test_texts_are_never_cut(world: World) -> None:
    alice = world.as_("alice")
    text = "long " * 50_000 + "end"
    assert (await read(alice, await alice.store(text)))["text_content"] == text


async def test_entries_come_in_the_order_asked_for(world: World) -> None:
    alice = world.as_("alice")
    ids = [await alice.store(f"text {number}") for number in range(5)]
    asked = [ids[3], ids[0], ids[4], ids[1]]
    assert [entry["id"] for entry in await alice.get(*asked)] == asked


async def test_missing_and_hidden_ids_are_left_out_alike(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store("mine")
    hidden = await bob.store("not for alice")
    with_missing = await alice.get_context_by_ids(context_ids=[UNKNOWN_ID, own])
    with_hidden = await alice.get_context_by_ids(context_ids=[hidden, own])
    assert with_missing == with_hidden
    assert [entry["id"] for entry in with_hidden["results"]] == [own]
    nothing = await alice.get_context_by_ids(context_ids=[UNKNOWN_ID])
    assert nothing == await alice.get_context_by_ids(context_ids=[hidden])
    assert nothing["results"] == []


async def test_images_are_included_unless_declined(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", images=[IMAGE])
    assert (await read(alice, entry_id))["images"] == [IMAGE]
    (declined,) = (await alice.get_context_by_ids(context_ids=[entry_id], include_images=False))["results"]
    assert "images" not in declined
    assert declined["content_type"] == "multimodal"


async def test_at_most_100_ids_are_read_at_once(world: World) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context_batch(
        entries=[{"thread_id": "t", "source": "agent", "text": f"text {number}"} for number in range(100)]
    )
    ids = [item["context_id"] for item in stored["results"]]
    assert [entry["id"] for entry in await alice.get(*ids)] == ids
    assert "100" in await refusal(alice.get(*ids, UNKNOWN_ID))


@pytest.mark.parametrize("context_ids", ([], None, "", {}, [1], [None]), ids=str)
async def test_context_ids_must_be_a_list_of_ids(world: World, context_ids: object) -> None:
    assert "context_ids" in await refusal(world.as_("alice").get_context_by_ids(context_ids=context_ids))


async def test_visibility_and_ownership_are_told_to_every_reader(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob", groups=("team",))
    public = await alice.store("public", visibility="public")
    read_grant, write_grant, group_grant = [await alice.store(f"shared {number}") for number in range(3)]
    await share(alice, read_grant, "bob")
    await share(alice, write_grant, "bob", "write")
    await share(alice, group_grant, "team", "write", "group")
    ids = (public, read_grant, write_grant, group_grant)
    assert [(entry["visibility"], entry["is_owner"]) for entry in await alice.get(*ids)] == [
        ("public", True),
        ("private", True),
        ("private", True),
        ("private", True),
    ]
    assert [(entry["visibility"], entry["is_owner"]) for entry in await bob.get(*ids)] == [
        ("public", False),
        ("private", False),
        ("private", False),
        ("private", False),
    ]


SUMMARISE = (
    "update entry_text set summary = 'in short' where row_id = (select row_id from entry where id = ?)",
    "update pgcontext.entry set summary = 'in short' where id = %s",
)


async def test_the_summary_is_left_out_of_whole_entries_unless_switched_on(
    world: World, on_storage: OnStorage
) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    on_storage(*SUMMARISE, entry_id)
    assert "summary" not in await read(alice, entry_id)


async def test_the_summary_is_a_text_when_switched_on(serve_with: ServeWith, on_storage: OnStorage) -> None:
    async with serve_with(get_context_by_ids_include_summary=True) as world:
        alice = world.as_("alice")
        entry_id = await alice.store("hello")
        assert (await read(alice, entry_id))["summary"] == ""
        on_storage(*SUMMARISE, entry_id)
        assert (await read(alice, entry_id))["summary"] == "in short"


async def test_a_search_shows_the_summary_until_the_text_changes(world: World, on_storage: OnStorage) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    on_storage(*SUMMARISE, entry_id)
    for change, summary in (({"tags": ["x"]}, "in short"), ({"text": "hello"}, "in short"), ({"text": "bye"}, "")):
        await alice.update_context(context_id=entry_id, **change)
        (found,) = (await alice.search_context())["results"]
        assert found["summary"] == summary
