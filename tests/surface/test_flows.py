"""What each tool asks of the store, and in which words it answers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgcontext.errors import Busy
from pgcontext.principal import Principal
from pgcontext.storage.values import EntryChange, EntryRights, WriteOutcome
from support.options import settings_for
from support.world import Person, ToolRefused, World, serving
from surface.another_server import Serve

UNKNOWN_ID = "0190abcdef1234567890abcdef123456"


async def refusal(person: Person, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolRefused) as caught:
        await getattr(person, tool)(**arguments)
    return str(caught.value)


@pytest.fixture
def bob(world: World) -> Person:
    return world.as_("bob")


# reading


async def test_ids_are_resolved_from_every_spelling_and_collapse(alice: Person) -> None:
    entry_id = await alice.store("x")
    hyphenated = f"{entry_id[:8]}-{entry_id[8:12]}-{entry_id[12:16]}-{entry_id[16:20]}-{entry_id[20:]}"
    entries = await alice.get(f" {entry_id.upper()} ", hyphenated, entry_id[:20].upper())
    assert [entry["id"] for entry in entries] == [entry_id]


async def test_a_prefix_that_matches_nothing_or_several_is_an_error(alice: Person) -> None:
    first, second = await alice.store("one"), await alice.store("two", source="user")
    assert first[:8] == second[:8]
    assert (
        await refusal(alice, "get_context_by_ids", context_ids=[first, "ffffffff"])
        == "No context entry matches prefix 'ffffffff'"
    )
    assert (
        await refusal(alice, "delete_context", context_ids=[first[:8].upper()])
        == f"Ambiguous prefix '{first[:8]}' matches multiple entries"
    )


async def test_missing_and_hidden_ids_are_left_out_alike(alice: Person, bob: Person) -> None:
    entry_id = await alice.store("mine")
    assert await bob.get(entry_id, UNKNOWN_ID) == []


# storing


async def test_a_retransmitted_store_is_merged(alice: Person) -> None:
    first = await alice.store_context(thread_id="t", source="user", text=" same ")
    again = await alice.store_context(thread_id="t", source="user", text="same")
    assert again["context_id"] == first["context_id"]
    assert again["message"] != first["message"]
    other = await alice.store_context(thread_id="t", source="user", text="same", deduplicate="off")
    assert other["context_id"] != first["context_id"]


async def test_an_atomic_batch_with_a_fault_stores_nothing(alice: Person) -> None:
    good = {"thread_id": "t", "source": "user", "text": "good"}
    text = await refusal(alice, "store_context_batch", entries=[good, {**good, "tags": [" "], "source": "x"}])
    assert text == "source: must be 'user' or 'agent'; tags: a tag must not be blank at index 1"
    assert await alice.search() == []


async def test_a_batch_that_is_not_atomic_stores_what_is_valid(alice: Person) -> None:
    good = {"thread_id": "t", "source": "user"}
    result = await alice.store_context_batch(
        entries=[
            {**good, "text": "a"},
            {**good},
            7,
            {**good, "text": "b"},
            {**good, "text": "c", "deduplicate": 2},
        ],
        atomic=False,
    )
    outcomes = result["results"]
    assert [outcome["index"] for outcome in outcomes] == [0, 1, 2, 3, 4]
    assert [outcome["success"] for outcome in outcomes] == [True, False, False, True, False]
    assert [outcome.get("error") for outcome in outcomes] == [
        None,
        "text: is required",
        "must be an object",
        None,
        "deduplicate must be a boolean",
    ]
    assert ["context_id" in outcome for outcome in outcomes] == [True, False, False, True, False]
    assert (result["success"], result["total"], result["succeeded"], result["failed"]) == (False, 5, 2, 3)
    assert len(await alice.search()) == 2


# updating


async def test_an_update_names_the_fields_it_changed(alice: Person) -> None:
    entry_id = await alice.store("x")
    updated = await alice.update_context(
        context_id=entry_id[:30], text="y", metadata={}, tags=[], images=[], visibility="public"
    )
    assert updated["context_id"] == entry_id
    assert updated["updated_fields"] == ["text_content", "metadata", "tags", "images", "visibility"]
    patched = await alice.update_context(context_id=entry_id, metadata_patch={"a": 1})
    assert patched["updated_fields"] == ["metadata"]


async def test_an_update_needs_something_to_change_and_one_form_of_metadata(alice: Person) -> None:
    assert (await refusal(alice, "update_context", context_id=UNKNOWN_ID)).startswith("Nothing to update")
    text = await refusal(alice, "update_context", context_id=UNKNOWN_ID, metadata={}, metadata_patch={})
    assert text == "metadata and metadata_patch are mutually exclusive; give one of them"


async def test_refusals_of_updates_are_worded_for_single_and_batch(alice: Person, bob: Person) -> None:
    hidden = await alice.store("hidden")
    public = await alice.store("public", source="user", visibility="public")
    change = {"text": "changed"}
    assert (
        await refusal(bob, "update_context", context_id=hidden, **change)
        == f"Context entry with ID {hidden} not found"
    )
    assert (
        await refusal(bob, "update_context", context_id=public, **change)
        == f"Not authorized to modify context entry with ID {public}"
    )
    updates = [
        {"context_id": hidden, **change},
        {"context_id": public, **change},
        {"context_id": "ffffffff", **change},
    ]
    result = await bob.update_context_batch(updates=updates, atomic=False)
    assert [outcome["error"] for outcome in result["results"]] == [
        f"Context entry {hidden} not found",
        f"Not authorized to modify context entry {public}",
        "No context entry matches prefix 'ffffffff'",
    ]
    mine = await bob.store("mine")
    updates = [{"context_id": mine, **change}, {"context_id": public, **change}]
    assert (
        await refusal(bob, "update_context_batch", updates=updates)
        == f"Not authorized to modify context entry {public} at index 1"
    )
    assert (await bob.get(mine))[0]["text_content"] == "mine"


async def test_several_updates_of_one_entry_in_a_batch_follow_each_other(alice: Person) -> None:
    entry_id = await alice.store("x")
    updates = [{"context_id": entry_id, "text": "y"}, {"context_id": entry_id[:31], "text": "z"}]
    assert (await alice.update_context_batch(updates=updates))["succeeded"] == 2
    assert (await alice.get(entry_id))[0]["text_content"] == "z"


# deleting


async def test_delete_context_takes_exactly_one_of_its_criteria(alice: Person) -> None:
    for arguments in ({}, {"context_ids": [UNKNOWN_ID], "thread_id": "t"}):
        assert (
            await refusal(alice, "delete_context", **arguments) == "Give exactly one of context_ids and thread_id"
        )


async def test_a_batch_delete_refuses_criteria_that_reach_everything(alice: Person) -> None:
    assert "at least one of" in await refusal(alice, "delete_context_batch")
    for arguments in ({"source": "user"}, {"older_than_days": 1}):
        assert "combine it with another criterion" in await refusal(alice, "delete_context_batch", **arguments)


async def test_a_batch_delete_combines_its_criteria(alice: Person) -> None:
    entry_id = await alice.store("x")
    for arguments in ({"source": "user"}, {"thread_ids": ["other"]}, {"older_than_days": 10**30}):
        result = await alice.delete_context_batch(context_ids=[entry_id], **arguments)
        assert (result["deleted_count"], result["criteria_used"]) == (0, ["context_ids", *arguments])
    result = await alice.delete_context_batch(context_ids=[entry_id], thread_ids=["t"], source="agent")
    assert result["deleted_count"] == 1


async def test_deleting_what_belongs_to_another_names_the_ids_and_deletes_nothing(
    alice: Person, bob: Person
) -> None:
    public = await alice.store("public", visibility="public")
    mine = await bob.store("mine")
    text = await refusal(bob, "delete_context", context_ids=[mine, public])
    assert text == f"Not authorized to delete context entries: {public}"
    assert len(await bob.get(mine)) == 1


# sharing


async def test_sharing_says_what_it_did(alice: Person) -> None:
    entry_id = await alice.store("x")
    grant = {"context_id": entry_id[:31], "principal_type": "user", "principal_id": "bob", "permission": "read"}
    first, again = await alice.share_context(**grant), await alice.share_context(**grant)
    assert (first["created"], first["message"]) == (True, f"Granted read on context entry {entry_id} to user bob")
    assert (again["created"], again["message"]) == (
        False,
        f"user bob already holds read on context entry {entry_id}",
    )
    await alice.share_context(**{**grant, "permission": "write"})
    listed = await alice.list_context_grants(context_id=entry_id)
    assert [row["permission"] for row in listed["grants"]] == ["read", "write"]
    assert listed["grants"][0]["granted_by"] == "alice"
    assert len(listed["grants"][0]["created_at"]) == len("2026-01-01T12:00:00Z")
    removed, missing = await alice.unshare_context(**grant), await alice.unshare_context(**grant)
    assert removed["message"] == f"Removed read on context entry {entry_id} from user bob"
    assert (removed["removed"], removed["remaining_permissions"]) == (True, ["write"])
    assert missing["message"] == f"No read grant on context entry {entry_id} for user bob"
    assert (missing["removed"], missing["remaining_permissions"]) == (False, ["write"])


@pytest.mark.parametrize(
    "principal_id, message",
    [
        ("", "principal_id cannot be empty or whitespace"),
        (" \t", "principal_id cannot be empty or whitespace"),
        (" bob", "principal_id cannot have leading or trailing whitespace"),
        ("x" * 257, "principal_id exceeds 256 characters"),
        ("b\x00b", "principal_id: contains a NUL character, which cannot be stored"),
        (5, "principal_id: must be a string"),
    ],
)
async def test_principal_ids_are_checked(alice: Person, principal_id: Any, message: str) -> None:
    grant = {
        "context_id": UNKNOWN_ID,
        "principal_type": "user",
        "principal_id": principal_id,
        "permission": "read",
    }
    for tool in ("share_context", "unshare_context"):
        assert await refusal(alice, tool, **grant) == message


@pytest.fixture
async def public_world(serve: Serve) -> AsyncIterator[World]:
    """The same store, where `nobody` is the anonymous principal."""
    async with serve(access_control_anonymous_principal="nobody") as served:
        yield served


async def test_a_grant_to_the_anonymous_principal_is_refused_before_the_id_is_looked_up(
    public_world: World,
) -> None:
    grant = {"context_id": "FFFFFFFF ", "principal_type": "user", "principal_id": "nobody", "permission": "read"}
    alice = public_world.as_("alice")
    assert await refusal(alice, "share_context", **grant) == (
        "Cannot share context entry with ID FFFFFFFF  with the anonymous principal; "
        "set its visibility to 'public' to publish it"
    )
    text = await refusal(alice, "share_context", **{**grant, "principal_type": "group"})
    assert text == "No context entry matches prefix 'ffffffff'"


async def test_the_anonymous_principal_is_refused_before_any_argument_is_checked(public_world: World) -> None:
    nobody = public_world.as_("nobody")
    tools = (await public_world.client.list_tools()).tools
    writers = [tool.name for tool in tools if tool.annotations and not tool.annotations.read_only_hint]
    assert len(writers) == 8
    for name in writers:
        text = await refusal(nobody, name, nonsense=1)
        assert text == f"The anonymous principal is read-only: {name} is not permitted"
    assert (await nobody.list_threads())["threads"] == []
    assert "nonsense" in await refusal(nobody, "list_threads", nonsense=1)


# a store that goes wrong


class StubStore:
    """A store whose methods answer what a test decides."""

    backend = "sqlite"

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[str, Any]] = []

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        async def answer(caller: Principal, *arguments: Any, **named: Any) -> Any:
            self.calls.append((name, arguments))
            outcome = self.answers[name]
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        return answer


async def test_an_unexpected_failure_is_logged_and_told_without_internals(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store: Any = StubStore(list_threads=RuntimeError("secret connection string"))
    async with serving(settings_for(), store) as served:
        with caplog.at_level(logging.ERROR):
            text = await refusal(served.as_("alice"), "list_threads")
    assert text == "list_threads failed on the server; its log has the details"
    assert "secret connection string" in caplog.text


async def test_a_busy_store_says_so() -> None:
    store: Any = StubStore(list_threads=Busy())
    async with serving(settings_for(), store) as served:
        assert await refusal(served.as_("alice"), "list_threads") == str(Busy())


async def test_updates_compare_versions_unless_they_only_patch_metadata() -> None:
    rights = [EntryRights(UNKNOWN_ID, version=7, is_owner=True, is_writable=True)]
    store: Any = StubStore(get_entry_rights=rights, update_entries=[WriteOutcome(0, UNKNOWN_ID)])
    async with serving(settings_for(), store) as served:
        alice = served.as_("alice")
        await alice.update_context(context_id=UNKNOWN_ID, text="x")
        await alice.update_context(context_id=UNKNOWN_ID, metadata_patch={"a": None})
        await alice.update_context_batch(
            updates=[{"context_id": UNKNOWN_ID, "metadata_patch": {"a": 1}, "tags": ["b"]}]
        )
        await alice.update_context_batch(updates=[{"context_id": UNKNOWN_ID, "metadata_patch": {"a": 1}}])
    changes = [arguments[0][0] for name, arguments in store.calls if name == "update_entries"]
    assert [change.expected_version for change in changes] == [7, None, 7, None]
    assert changes[1] == EntryChange(UNKNOWN_ID, metadata_patch={"a": None})


async def test_prefixes_of_one_request_cost_one_lookup_and_whole_ids_none() -> None:
    store: Any = StubStore(resolve_prefixes=[], get_entries=[])
    async with serving(settings_for(), store) as served:
        await served.as_("alice").get_context_by_ids(context_ids=[UNKNOWN_ID, UNKNOWN_ID])
    assert store.calls == [("get_entries", ([UNKNOWN_ID],))]
