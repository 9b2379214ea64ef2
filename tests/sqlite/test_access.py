"""An entry that the caller may not read leaves no trace anywhere."""

from __future__ import annotations

import pytest

from pgcontext.errors import NoPrincipal
from pgcontext.principal import Principal
from pgcontext.storage.values import EntryFilter, MetadataCondition, NewEntry, PrefixMatch

ALICE = Principal("alice")
BOB = Principal("bob", ("red",))
EVERYTHING = EntryFilter()


async def everything_seen(store, caller, entry_id):
    """The answers of every reading method, without what describes the whole deployment."""
    statistics = await store.get_statistics(caller)
    return [
        await store.get_entries(caller, [entry_id]),
        await store.get_entry_rights(caller, [entry_id]),
        await store.list_images(caller, [entry_id]),
        await store.list_threads(caller, None, 0),
        await store.search_entries(caller, EVERYTHING, 100, 0, 300),
        await store.search_entries(caller, EntryFilter(tags=("secret",)), 100, 0, 300),
        await store.resolve_prefixes(caller, [entry_id[:30], entry_id[:31]]),
        (statistics.total_entries, statistics.by_source, statistics.by_content_type),
        (statistics.total_threads, statistics.total_images, statistics.unique_tags),
    ]


async def test_a_stranger_sees_nothing_in_any_method(store, put):
    own = await put("own", by=BOB, thread_id="t")
    before = await everything_seen(store, BOB, "f" * 32)
    hidden = await put("hidden", tags=("secret",), thread_id="t", deduplicate=False)
    after = await everything_seen(store, BOB, hidden)
    # the prefixes asked for differ, so theirs are compared by what was found
    assert [match.entry_id for match in after[6]] == [None, None]
    assert not any(match.is_ambiguous for match in after[6])
    del before[6], after[6]
    assert after == before
    assert [entry.id for entry in after[4]] == [own]


async def test_a_hidden_entry_takes_no_slot(store, put):
    shown = [await put(f"shown {n}", by=BOB, thread_id=f"shown {n}") for n in range(4)]
    for n in range(20):
        await put(f"hidden {n}", thread_id=f"hidden {n}")
    shown.append(await put("shown 4", by=BOB, thread_id="shown 4"))
    pages = [await store.search_entries(BOB, EVERYTHING, 2, offset, 300) for offset in (0, 2, 4)]
    assert [entry.id for page in pages for entry in page] == shown[::-1]
    threads = [await store.list_threads(BOB, 2, offset) for offset in (0, 2, 4)]
    assert [thread.last_id for page in threads for thread in page] == shown[::-1]


@pytest.mark.parametrize(
    ("principal_type", "principal_id", "permission", "is_writable"),
    [("user", "bob", "read", False), ("user", "bob", "write", True), ("group", "red", "write", True)],
)
async def test_a_grant_opens_one_entry(store, put, principal_type, principal_id, permission, is_writable):
    entry_id = await put("shared", tags=("secret",))
    await put("kept", deduplicate=False)
    await store.share_entry(ALICE, entry_id, principal_type, principal_id, permission)
    (entry,) = await store.search_entries(BOB, EVERYTHING, 10, 0, 300)
    assert (entry.id, entry.is_owner, entry.tags) == (entry_id, False, ["secret"])
    (rights,) = await store.get_entry_rights(BOB, [entry_id])
    assert (rights.is_owner, rights.is_writable) == (False, is_writable)
    (thread,) = await store.list_threads(BOB, None, 0)
    assert (thread.entry_count, thread.last_id) == (1, entry_id)
    assert (await store.get_statistics(BOB)).unique_tags == 1
    await store.unshare_entry(ALICE, entry_id, principal_type, principal_id, permission)
    assert await store.search_entries(BOB, EVERYTHING, 10, 0, 300) == []


@pytest.mark.parametrize(("principal_type", "principal_id"), [("user", "red"), ("group", "bob"), ("user", "Bob")])
async def test_a_grant_to_another_name_or_kind_opens_nothing(store, put, principal_type, principal_id):
    entry_id = await put("shared")
    await store.share_entry(ALICE, entry_id, principal_type, principal_id, "read")
    assert await store.get_entries(BOB, [entry_id]) == []


async def test_a_public_entry_is_readable_by_all_and_changeable_by_its_owner(store, put):
    entry_id = await put("public", visibility="public")
    (rights,) = await store.get_entry_rights(BOB, [entry_id])
    assert (rights.is_owner, rights.is_writable) == (False, False)


async def test_a_prefix_resolves_over_readable_entries(store, put):
    mine = await put("mine")
    hidden = await put("hidden", by=BOB)
    twin = mine[:31] + ("0" if mine[31] != "0" else "1")
    await store._database.write(
        lambda connection: connection.execute("update entry set id = ? where id = ?", (twin, hidden))
    )
    assert await store.resolve_prefixes(ALICE, [mine[:31], "0" * 8]) == [
        PrefixMatch(mine[:31], mine, False),
        PrefixMatch("0" * 8, None, False),
    ]
    await store._database.write(
        lambda connection: connection.execute("update entry set visibility = 'public' where id = ?", (twin,))
    )
    assert await store.resolve_prefixes(ALICE, [mine[:31]]) == [PrefixMatch(mine[:31], None, True)]


async def test_entries_come_in_the_order_given_and_once(store, put):
    ids = [await put(str(n), deduplicate=False) for n in range(3)]
    wanted = [ids[2], ids[0], "0" * 32, ids[2], ids[1]]
    for found in (await store.get_entries(ALICE, wanted), await store.get_entry_rights(ALICE, wanted)):
        assert [getattr(item, "id", None) or item.entry_id for item in found] == [ids[2], ids[0], ids[1]]


async def test_threads_are_counted_over_readable_entries(store, put):
    first = await put("one", thread_id="a")
    await put("two", thread_id="a", source="agent")
    await put("three", thread_id="b")
    await put("hidden", thread_id="a", by=BOB)
    last = await put("four", thread_id="a")
    thread, other = await store.list_threads(ALICE, None, 7)
    assert (thread.thread_id, thread.entry_count, thread.source_types, thread.multimodal_count) == ("a", 3, 2, 0)
    assert thread.last_id == last
    assert (other.thread_id, other.source_types) == ("b", 1)
    (entry,) = await store.get_entries(ALICE, [first])
    assert thread.first_entry == entry.created_at


async def test_names_of_any_characters_are_compared_exactly(store, put):
    names = ["a'b", "a%b", "a_b", "a.b/c:d-e", "😀", 'q"q', "A'B"]
    for name in names:
        await store.store_entries(
            Principal(name, (name,)), [NewEntry(name, "user", name, {"k": name}, (name,))], True
        )
    for name in names:
        caller = Principal(name)
        condition = MetadataCondition("k", "eq", name, case_sensitive=True)
        filter = EntryFilter(thread_id=name, tags=(name,), metadata=(condition,))
        (entry,) = await store.search_entries(caller, filter, 10, 0, 300)
        assert entry.text_content == name


async def test_without_a_principal_nothing_is_answered(store):
    with pytest.raises(NoPrincipal):
        await store.get_statistics(Principal(""))
