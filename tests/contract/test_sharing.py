"""share_context, unshare_context, list_context_grants: the owner decides, in exact terms, and nobody else."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from contract.helpers import UNKNOWN_ID, OnStorage, ServeWith, grants, read, refusal, share, text_of
from support.world import Person, World

GRANT = "(entry_id, principal_type, principal_id, permission, granted_by, created_at)"


def grant(entry_id: str, name: str = "bob", permission: str = "read", kind: str = "user") -> dict[str, Any]:
    """The arguments of share_context and unshare_context."""
    return {"context_id": entry_id, "principal_type": kind, "principal_id": name, "permission": permission}


async def test_a_grant_is_reported_in_full(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert await alice.share_context(**grant(entry_id)) == {
        "success": True,
        "context_id": entry_id,
        "principal_type": "user",
        "principal_id": "bob",
        "permission": "read",
        "created": True,
        "message": f"Granted read on context entry {entry_id} to user bob",
    }


async def test_sharing_again_changes_nothing_and_says_so(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    await alice.share_context(**grant(entry_id, "team", "write", "group"))
    before = await alice.list_context_grants(context_id=entry_id)
    assert await alice.share_context(**grant(entry_id, "team", "write", "group")) == {
        "success": True,
        "context_id": entry_id,
        "principal_type": "group",
        "principal_id": "team",
        "permission": "write",
        "created": False,
        "message": f"group team already holds write on context entry {entry_id}",
    }
    assert await alice.list_context_grants(context_id=entry_id) == before


async def test_read_and_write_are_separate_grants(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob", "write")
    assert (await alice.share_context(**grant(entry_id)))["created"] is True
    assert await grants(alice, entry_id) == [("user", "bob", "read"), ("user", "bob", "write")]
    removed = await alice.unshare_context(**grant(entry_id))
    assert removed["remaining_permissions"] == ["write"]
    await bob.update_context(context_id=entry_id, text="a write grant reads too")
    removed = await alice.unshare_context(**grant(entry_id, permission="write"))
    assert removed["remaining_permissions"] == []
    assert await bob.search() == []


async def test_a_user_and_a_group_of_one_name_are_different_grantees(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob", "read", "group")
    assert await world.as_("bob").search() == []
    assert await world.as_("carol", groups=("bob",)).search() == [entry_id]
    removed = await alice.unshare_context(**grant(entry_id))
    assert (removed["removed"], removed["remaining_permissions"]) == (False, [])
    assert await grants(alice, entry_id) == [("group", "bob", "read")]


async def test_a_group_grant_reaches_every_member_and_no_role(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "team", "write", "group")
    for name in ("bob", "carol"):
        member = world.as_(name, groups=("others", "team"))
        assert await member.search() == [entry_id]
        await member.update_context(context_id=entry_id, text=f"by {name}")
    assert await world.as_("dave", groups=("others",), roles=("team",)).search() == []
    assert await world.as_("team").search() == []


async def test_grantees_are_compared_exactly(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "Bob")
    await share(alice, entry_id, "Team", "read", "group")
    for name in ("bob", "BOB", "Bob ", "Bo", "Bobb"):
        assert await world.as_(name, groups=("team", "Team ", "*")).search() == []
    assert await world.as_("Bob").search() == [entry_id]
    assert await world.as_("x", groups=("Team",)).search() == [entry_id]


@pytest.mark.parametrize(
    "name",
    (
        "*",
        "user:bob",
        "group:team",
        "a b",
        "o'neil",
        'q"q',
        "{a,b}",
        "a,b",
        "\\",
        "%",
        "_",
        "🙂",
        "x" * 256,
        "null",
    ),
    ids=lambda name: name[:12].encode("unicode_escape").decode(),
)
async def test_any_characters_make_a_grantee_and_reach_nobody_else(world: World, name: str) -> None:
    alice, stranger = world.as_("alice"), world.as_("bob", groups=("team",))
    for kind in ("user", "group"):
        entry_id = await alice.store(f"shared with the {kind}")
        await share(alice, entry_id, name, "write", kind)
        grantee = world.as_(name) if kind == "user" else world.as_("somebody", groups=(name,))
        await grantee.update_context(context_id=entry_id, text="changed")
        assert await stranger.search() == []
        assert await grants(alice, entry_id) == [(kind, name, "write")]
        await alice.delete_context(context_ids=[entry_id])


@pytest.mark.parametrize(
    ("name", "words"),
    (
        ("", "principal_id cannot be empty or whitespace"),
        ("  \t", "principal_id cannot be empty or whitespace"),
        (" bob", "principal_id cannot have leading or trailing whitespace"),
        ("bob\n", "principal_id cannot have leading or trailing whitespace"),
        ("🙂" * 257, "principal_id exceeds 256 characters"),
    ),
    ids=("empty", "blank", "space before", "newline after", "too long"),
)
async def test_an_unusable_grantee_is_refused(world: World, name: str, words: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert await refusal(alice.share_context(**grant(entry_id, name))) == words
    assert await refusal(alice.unshare_context(**grant(entry_id, name))) == words
    assert await grants(alice, entry_id) == []


@pytest.mark.parametrize("name", ("nul \x00", "surrogate \ud800"), ids=ascii)
async def test_a_grantee_that_cannot_be_stored_is_refused(world: World, name: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert (await refusal(alice.share_context(**grant(entry_id, name)))).startswith("principal_id:")
    assert (await refusal(alice.unshare_context(**grant(entry_id, name)))).startswith("principal_id:")


@pytest.mark.parametrize(
    ("part", "value"), (("principal_type", "role"), ("permission", "admin"), ("permission", None)), ids=str
)
async def test_types_and_permissions_come_from_closed_lists(world: World, part: str, value: Any) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert part in await refusal(alice.share_context(**grant(entry_id) | {part: value}))
    assert part in await refusal(alice.unshare_context(**grant(entry_id) | {part: value}))


async def test_an_entry_is_not_shared_with_its_owner(world: World) -> None:
    alice = world.as_("alice", groups=("team",))
    entry_id = await alice.store("hello")
    words = await refusal(alice.share_context(**grant(entry_id, "alice")))
    assert words == f"Cannot share context entry with ID {entry_id} with its owner"
    assert (await alice.share_context(**grant(entry_id, "team", kind="group")))["created"] is True
    assert (await alice.share_context(**grant(entry_id, "alice", kind="group")))["created"] is True


async def test_removing_a_grant_is_reported_in_full(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob")
    expected = {
        "success": True,
        "context_id": entry_id,
        "principal_type": "user",
        "principal_id": "bob",
        "permission": "read",
        "removed": True,
        "remaining_permissions": [],
        "message": f"Removed read on context entry {entry_id} from user bob",
    }
    assert await alice.unshare_context(**grant(entry_id)) == expected
    assert await alice.unshare_context(**grant(entry_id)) == expected | {
        "removed": False,
        "message": f"No read grant on context entry {entry_id} for user bob",
    }


async def test_removing_a_grant_that_was_never_there_leaves_the_other_one(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob")
    removed = await alice.unshare_context(**grant(entry_id, permission="write"))
    assert removed["removed"] is False
    assert removed["remaining_permissions"] == ["read"]
    assert removed["message"] == f"No write grant on context entry {entry_id} for user bob"
    assert await bob.search() == [entry_id]


async def test_a_grant_removed_from_a_user_may_remain_through_a_group(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob", groups=("team",))
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob")
    await share(alice, entry_id, "team", "read", "group")
    removed = await alice.unshare_context(**grant(entry_id))
    assert removed["remaining_permissions"] == []
    assert await bob.search() == [entry_id]


async def test_access_ends_with_the_grant_for_every_tool(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    entry_id = await alice.store("hello")
    await share(alice, entry_id, "bob", "write")
    await alice.unshare_context(**grant(entry_id, permission="write"))
    assert await bob.get(entry_id) == []
    assert (await bob.list_threads())["threads"] == []
    words = await refusal(bob.update_context(context_id=entry_id, text="x"))
    assert words == f"Context entry with ID {entry_id} not found"


async def test_grants_are_listed_in_code_point_order_with_their_origin(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    for kind, name, permission in (
        ("user", "bob", "write"),
        ("user", "Zoe", "read"),
        ("user", "\uffee", "read"),
        ("user", "\U0001f600", "read"),
        ("user", "bob", "read"),
        ("user", "élan", "read"),
        ("group", "team", "read"),
        ("group", "a-b", "read"),
        ("group", "ab", "read"),
    ):
        await share(alice, entry_id, name, permission, kind)
    listed = await alice.list_context_grants(context_id=entry_id)
    assert listed.keys() == {"context_id", "grants", "count"}
    assert (listed["context_id"], listed["count"]) == (entry_id, 9)
    assert await grants(alice, entry_id) == [
        ("group", "a-b", "read"),
        ("group", "ab", "read"),
        ("group", "team", "read"),
        ("user", "Zoe", "read"),
        ("user", "bob", "read"),
        ("user", "bob", "write"),
        ("user", "élan", "read"),
        ("user", "\uffee", "read"),
        ("user", "\U0001f600", "read"),
    ]
    for listed_grant in listed["grants"]:
        assert listed_grant.keys() == {"principal_type", "principal_id", "permission", "granted_by", "created_at"}
        assert listed_grant["granted_by"] == "alice"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed_grant["created_at"])


async def test_every_grant_is_listed_however_many_there_are(world: World, on_storage: OnStorage) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    names = json.dumps([f"user {number:04}" for number in range(1_100)])
    on_storage(
        f"insert into entry_grant {GRANT} select ?, 'user', value, 'read', 'alice', 0 from json_each(?)",
        f"insert into pgcontext.entry_grant {GRANT} "
        "select %s, 'user', value, 'read', 'alice', now() from jsonb_array_elements_text(%s) as value",
        entry_id,
        names,
    )
    listed = await alice.list_context_grants(context_id=entry_id)
    assert listed["count"] == len(listed["grants"]) == 1_100


async def test_an_entry_without_grants_has_an_empty_list(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", visibility="public")
    assert await alice.list_context_grants(context_id=entry_id) == {
        "context_id": entry_id,
        "grants": [],
        "count": 0,
    }


async def test_sharing_and_unsharing_leave_the_entry_as_it_is(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    before = await read(alice, entry_id)
    await share(alice, entry_id, "bob", "write")
    assert await read(alice, entry_id) == before
    await alice.unshare_context(**grant(entry_id, permission="write"))
    assert await read(alice, entry_id) == before


async def test_no_read_tool_tells_who_owns_or_holds_an_entry(world: World) -> None:
    alice, bob = world.as_("alice the owner"), world.as_("bob")
    entry_id = await alice.store("hello", visibility="public")
    await share(alice, entry_id, "carol the grantee", "write")
    for person in (alice, bob):
        for tool, arguments in reads(entry_id).items():
            answer = str(await getattr(person, tool)(**arguments))
            assert "alice the owner" not in answer, tool
            assert "carol the grantee" not in answer, tool


def reads(entry_id: str) -> dict[str, dict[str, Any]]:
    """A call of every read tool but list_context_grants."""
    return {
        "search_context": {"include_images": True},
        "get_context_by_ids": {"context_ids": [entry_id]},
        "list_threads": {},
        "get_statistics": {},
    }


async def test_hidden_and_missing_entries_are_refused_alike_by_all_three_tools(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    hidden = await bob.store("hidden")
    for entry_id in (hidden, UNKNOWN_ID):
        words = f"Context entry with ID {entry_id} not found"
        assert await refusal(alice.share_context(**grant(entry_id, "carol"))) == words
        assert await refusal(alice.unshare_context(**grant(entry_id, "carol"))) == words
        assert await refusal(alice.list_context_grants(context_id=entry_id)) == words


@pytest.mark.parametrize("name", ("alice", "nobody"))
async def test_the_owner_can_remove_grants_that_could_not_be_given(
    serve_with: ServeWith, on_storage: OnStorage, name: str
) -> None:
    async with serve_with(access_control_anonymous_principal="nobody") as world:
        alice = world.as_("alice")
        entry_id = await alice.store("hello")
        on_storage(
            f"insert into entry_grant {GRANT} values (?, 'user', ?, 'read', 'import', 0)",
            f"insert into pgcontext.entry_grant {GRANT} values (%s, 'user', %s, 'read', 'import', now())",
            entry_id,
            name,
        )
        assert await grants(alice, entry_id) == [("user", name, "read")]
        assert (await alice.unshare_context(**grant(entry_id, name)))["removed"] is True
        assert await grants(alice, entry_id) == []


async def test_concurrent_shares_of_one_grant_create_it_once(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    shared = await asyncio.gather(*(alice.share_context(**grant(entry_id)) for _ in range(8)))
    assert sorted(answer["created"] for answer in shared) == [False] * 7 + [True]
    assert await grants(alice, entry_id) == [("user", "bob", "read")]


async def test_concurrent_updates_deletes_and_shares_end_in_a_result_or_not_found(world: World) -> None:
    alice = world.as_("alice")
    for number in range(5):
        entry_id = await alice.store(f"hello {number}")
        calls = [
            outcome(alice, "update_context", context_id=entry_id, metadata_patch={"a": number}),
            outcome(alice, "share_context", **grant(entry_id)),
            outcome(alice, "delete_context", context_ids=[entry_id]),
            outcome(alice, "unshare_context", **grant(entry_id)),
            outcome(alice, "list_context_grants", context_id=entry_id),
        ]
        for words in await asyncio.gather(*calls):
            assert words in (None, f"Context entry with ID {entry_id} not found")
        assert await alice.get(entry_id) == []


async def outcome(person: Person, tool: str, **arguments: Any) -> str | None:
    """The words of a refusal, or None for a success."""
    result = await person.call(tool, **arguments)
    return text_of(result) if result.is_error else None
