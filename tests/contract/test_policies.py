"""What the operator decides about access: default visibility, publish role, group grants, disabled tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from contract.helpers import ServeWith, grants, read, refusal, share, total_entries
from pgcontext.app import create_server
from pgcontext.errors import StartRefused
from support.options import settings_for


async def test_the_default_visibility_can_be_public(serve_with: ServeWith) -> None:
    async with serve_with(access_control_default_visibility="public") as world:
        alice, bob = world.as_("alice"), world.as_("bob")
        public = await alice.store("ours")
        await alice.store("mine", visibility="private")
        assert await bob.search() == [public]


async def test_publishing_needs_the_publish_role(serve_with: ServeWith) -> None:
    async with serve_with(access_control_publish_role="publisher") as world:
        alice, editor = world.as_("alice"), world.as_("editor", roles=("publisher",))
        assert "publisher" in await refusal(alice.store("ours", visibility="public"))
        assert await total_entries(alice) == 0
        private = await alice.store("mine")
        assert "publisher" in await refusal(alice.update_context(context_id=private, visibility="public"))
        assert (await read(alice, private))["visibility"] == "private"
        assert await alice.search() == [private]
        public = await editor.store("theirs", visibility="public")
        own = await editor.store("theirs too")
        await editor.update_context(context_id=own, visibility="public")
        assert await alice.search() == [own, public, private]


async def test_a_group_of_the_publish_roles_name_is_no_role(serve_with: ServeWith) -> None:
    async with serve_with(access_control_publish_role="publisher") as world:
        member = world.as_("member", groups=("publisher",))
        assert "publisher" in await refusal(member.store("ours", visibility="public"))


async def test_making_private_needs_no_role(serve_with: ServeWith) -> None:
    async with serve_with(access_control_publish_role="publisher") as world:
        entry_id = await world.as_("alice", roles=("publisher",)).store("ours", visibility="public")
        alice = world.as_("alice")
        await alice.update_context(context_id=entry_id, visibility="private")
        assert (await read(alice, entry_id))["visibility"] == "private"


async def test_the_publish_role_is_asked_for_in_batches_too(serve_with: ServeWith) -> None:
    async with serve_with(access_control_publish_role="publisher") as world:
        alice = world.as_("alice")
        entries = [
            {"thread_id": "t", "source": "user", "text": "mine"},
            {"thread_id": "t", "source": "user", "text": "ours", "visibility": "public"},
        ]
        assert (await refusal(alice.store_context_batch(entries=entries))).endswith(" at index 1")
        assert await total_entries(alice) == 0
        stored = await alice.store_context_batch(entries=entries, atomic=False)
        assert [item["success"] for item in stored["results"]] == [True, False]
        assert await total_entries(alice) == 1


async def test_a_default_of_public_needs_the_publish_role_as_well(serve_with: ServeWith) -> None:
    async with serve_with(
        access_control_default_visibility="public", access_control_publish_role="publisher"
    ) as world:
        alice = world.as_("alice")
        assert "publisher" in await refusal(alice.store("ours"))
        await alice.store("mine", visibility="private")
        assert await total_entries(alice) == 1


async def test_a_repeated_store_as_public_neither_publishes_nor_needs_the_role(serve_with: ServeWith) -> None:
    async with serve_with(access_control_publish_role="publisher") as world:
        alice = world.as_("alice")
        entry_id = await alice.store("mine")
        assert await alice.store("mine", visibility="public") == entry_id
        assert (await read(alice, entry_id))["visibility"] == "private"


async def test_the_authors_groups_can_be_given_read_grants(serve_with: ServeWith) -> None:
    async with serve_with(access_control_default_group_grants="author_groups") as world:
        alice = world.as_("alice", groups=("red", "blue"))
        entry_id = await alice.store("for my groups")
        assert await grants(alice, entry_id) == [("group", "blue", "read"), ("group", "red", "read")]
        assert await world.as_("bob", groups=("blue",)).search() == [entry_id]
        assert await world.as_("carol", groups=("green",)).search() == []
        words = await refusal(world.as_("bob", groups=("blue",)).update_context(context_id=entry_id, text="no"))
        assert words == f"Not authorized to modify context entry with ID {entry_id}"


async def test_a_default_group_grant_is_a_grant_the_entry_already_holds(serve_with: ServeWith) -> None:
    async with serve_with(access_control_default_group_grants="author_groups") as world:
        alice = world.as_("alice", groups=("red",))
        entry_id = await alice.store("for my group")
        shared = await alice.share_context(
            context_id=entry_id, principal_type="group", principal_id="red", permission="read"
        )
        assert shared["created"] is False
        removed = await alice.unshare_context(
            context_id=entry_id, principal_type="group", principal_id="red", permission="read"
        )
        assert removed["removed"] is True
        assert await world.as_("bob", groups=("red",)).search() == []


async def test_the_anonymous_principal_reads_what_is_public_or_shared_with_its_groups(
    serve_with: ServeWith,
) -> None:
    async with serve_with(access_control_anonymous_principal="nobody") as world:
        alice, anonymous = world.as_("alice"), world.as_("nobody", groups=("visitors",))
        public = await alice.store("for all", visibility="public")
        shared = await alice.store("for visitors")
        await alice.store("mine")
        await share(alice, shared, "visitors", principal_type="group")
        assert await anonymous.search() == [shared, public]
        assert await total_entries(anonymous) == 2


async def test_nothing_is_shared_with_the_anonymous_principal_by_name(serve_with: ServeWith) -> None:
    async with serve_with(access_control_anonymous_principal="nobody") as world:
        alice = world.as_("alice")
        entry_id = await alice.store("mine")
        for named in (entry_id, entry_id[:20], "0190abcdef1274568890abcdef123456"):
            words = await refusal(
                alice.share_context(
                    context_id=named, principal_type="user", principal_id="nobody", permission="read"
                )
            )
            assert words == (
                f"Cannot share context entry with ID {named} with the anonymous principal; "
                "set its visibility to 'public' to publish it"
            )
        await share(alice, entry_id, "nobody", principal_type="group")
        assert await grants(alice, entry_id) == [("group", "nobody", "read")]


async def test_a_disabled_tool_is_neither_listed_nor_called(serve_with: ServeWith) -> None:
    async with serve_with(disabled_tools=("delete_context", "share_context")) as world:
        listed = {tool.name for tool in (await world.client.list_tools()).tools}
        assert len(listed) == 19
        assert not {"delete_context", "share_context"} & listed
        alice = world.as_("alice")
        entry_id = await alice.store("hello")
        result = await alice.call("delete_context", context_ids=[entry_id])
        assert result.is_error
        assert await total_entries(alice) == 1


async def test_disabling_a_tool_that_does_not_exist_stops_the_start(serve_with: ServeWith) -> None:
    with pytest.raises(StartRefused, match="delete_everything"):
        async with serve_with(disabled_tools=("delete_everything",)):
            pass


async def test_without_a_token_every_call_is_made_by_the_default_principal(
    mode: str, make_store: Callable[..., Any], serve_with: ServeWith
) -> None:
    async with serve_with() as world:
        settings = settings_for(access_control_default_principal="the operator")
        async with Client(create_server(settings, make_store(mode, settings))) as client:
            stored = await client.call_tool("store_context", {"thread_id": "t", "source": "agent", "text": "mine"})
        assert stored.structured_content is not None
        assert await world.as_("the operator").search() == [stored.structured_content["context_id"]]
        assert await world.as_("local").search() == []
