"""What a text's chunks and embeddings go through, in every storage mode."""

from __future__ import annotations

import asyncio

import pytest

from pgcontext.errors import AtIndex, WrongChunks
from pgcontext.principal import Principal
from pgcontext.storage.store import Store
from pgcontext.storage.values import EntryChange, NewChunk, NewEntry
from support.vectors import embedded, make_vector, make_vectors, near
from vectors.conftest import ALICE, Find, Put

BOB = Principal("bob")
HERE, THERE = make_vector(1), make_vector(2)


async def test_a_chunk_comes_back_as_it_was_stored(put: Put, find: Find) -> None:
    (entry_id,) = await put(embedded("one two three four", HERE, THERE))
    (match,) = await find(near(THERE, 9))
    assert (match.entry_id, match.chunk_index) == (entry_id, 1)
    assert (match.begin_offset, match.end_offset) == (9, 18)
    assert match.token_codes == THERE[:32]
    assert match.semantic_rank == 1
    assert match.fts_score is match.fts_rank is match.fused_score is None


async def test_the_distance_is_that_of_the_stored_numbers(put: Put, find: Find) -> None:
    await put(embedded("same", HERE))
    (match,) = await find(HERE)
    assert match.semantic_distance == 0


async def test_an_entry_counts_once_with_its_nearest_chunk(put: Put, find: Find) -> None:
    long, short = await put(
        embedded("a b c d e", make_vector(3), near(HERE, 5, 0.05), near(HERE, 6, 0.5)),
        embedded("f", near(HERE, 7, 0.3)),
    )
    matches = await find(HERE)
    assert [(match.entry_id, match.chunk_index) for match in matches] == [(long, 1), (short, 0)]


async def test_equally_near_entries_come_newest_first(put: Put, find: Find) -> None:
    entry_ids = await put(*(embedded(f"text {number}", HERE) for number in range(5)))
    assert [match.entry_id for match in await find(HERE)] == entry_ids[::-1]


async def test_the_entry_before_in_the_thread_is_the_readable_one(store: Store, put: Put, find: Find) -> None:
    (first,) = await put(embedded("first", HERE))
    await put(embedded("hidden", HERE), by=BOB)
    await put(embedded("elsewhere", HERE, thread_id="other"))
    (last,) = await put(embedded("last", HERE))
    previous = {match.entry_id: match.previous_id for match in await find(HERE, thread_id="t")}
    assert previous == {first: None, last: first}


async def test_a_changed_text_takes_its_old_chunks_along(store: Store, put: Put, find: Find) -> None:
    (entry_id,) = await put(embedded("old text", HERE))
    changed = embedded("new", THERE)
    await store.update_entries(ALICE, [EntryChange(entry_id, text="new", chunks=changed.chunks)], True)
    (match,) = await find(THERE)
    assert match.semantic_distance == 0
    assert match.end_offset == 3
    await store.update_entries(ALICE, [EntryChange(entry_id, text="newer, not embedded")], True)
    assert await find(THERE) == []


async def test_a_text_that_stays_keeps_its_embeddings(store: Store, put: Put, find: Find) -> None:
    (entry_id,) = await put(embedded("text", HERE))
    for chunks in (None, (NewChunk(0, 4),)):
        await store.update_entries(ALICE, [EntryChange(entry_id, text="text", chunks=chunks)], True)
    await store.update_entries(ALICE, [EntryChange(entry_id, tags=("tag",))], True)
    assert [match.semantic_distance for match in await find(HERE)] == [0]


async def test_embeddings_can_follow_later(store: Store, put: Put, find: Find) -> None:
    (entry_id,) = await put(NewEntry("t", "user", "text"))
    assert await find(HERE) == []
    chunks = (NewChunk(0, 4, HERE),)
    await store.update_entries(ALICE, [EntryChange(entry_id, text="text", chunks=chunks)], True)
    (match,) = await find(HERE)
    assert match.token_codes is None


async def test_a_merge_leaves_the_chunks(put: Put, find: Find) -> None:
    first = await put(embedded("text", HERE))
    again = await put(embedded("text", THERE, deduplicate=True, tags=("tag",)))
    assert again == first
    assert [match.semantic_distance for match in await find(HERE)] == [0]


async def test_a_deleted_entry_is_not_found(store: Store, put: Put, find: Find) -> None:
    entry_ids = await put(*(embedded(f"text {number}", near(HERE, number)) for number in range(300)))
    await find(HERE)
    await store.delete_entries(ALICE, entry_ids[:290], None, None, None)
    assert {match.entry_id for match in await find(HERE)} == set(entry_ids[290:])


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        (NewChunk(0, 3),),
        (NewChunk(0, 5),),
        (NewChunk(1, 4),),
        (NewChunk(0, 1), NewChunk(2, 4)),
        (NewChunk(0, 3), NewChunk(0, 4)),
        (NewChunk(0, 2), NewChunk(1, 2), NewChunk(2, 4)),
        (NewChunk(-1, 4),),
    ],
)
async def test_chunks_that_do_not_fit_the_text_are_refused(store: Store, chunks: tuple[NewChunk, ...]) -> None:
    wrong = NewEntry("t", "user", "text", chunks=chunks)
    right = embedded("fine", HERE)
    with pytest.raises(AtIndex, match="at index 1"):
        await store.store_entries(ALICE, [right, wrong], True)
    assert (await store.get_statistics(ALICE)).total_entries == 0
    first, second = await store.store_entries(ALICE, [right, wrong], False)
    assert first.error is None
    assert isinstance(second.error, WrongChunks)


async def test_statistics_tell_what_waits_for_embeddings(store: Store, put: Put) -> None:
    half = (NewChunk(0, 2, HERE), NewChunk(2, 4))
    await put(embedded("text", HERE), NewEntry("t", "user", "pending"), NewEntry("t", "user", "half", chunks=half))
    await put(embedded("hidden", HERE), by=BOB)
    statistics = await store.get_statistics(ALICE)
    assert (statistics.total_entries, statistics.indexed_entries, statistics.embedded_entries) == (3, 3, 1)
    assert statistics.embedding_bytes > 0


async def test_previews_come_in_the_order_asked_and_cut(store: Store, put: Put) -> None:
    entry_ids = await put(*(embedded(f"text number {number}", HERE) for number in range(3)))
    (hidden,) = await put(embedded("hidden", HERE), by=BOB)
    asked = [entry_ids[2], hidden, entry_ids[0], entry_ids[2]]
    previews = await store.preview_entries(ALICE, asked, 4)
    assert [(entry.id, entry.text_content, entry.is_text_content_truncated) for entry in previews] == [
        (entry_ids[2], "text", True),
        (entry_ids[0], "text", True),
    ]


async def test_searches_beside_stores_see_whole_entries(store: Store, put: Put, find: Find) -> None:
    vectors = make_vectors(200, 11)
    known = await put(embedded("first", HERE))

    async def write() -> None:
        for number, vector in enumerate(vectors):
            known.extend(await put(embedded(f"text {number}", vector.tobytes())))

    async def read() -> None:
        while len(known) <= len(vectors):
            count = len(known)
            found = {match.entry_id for match in await find(HERE, 1000)}
            assert set(known[:count]) <= found

    await asyncio.gather(write(), read(), read())
    assert len(await find(HERE, 1000)) == len(vectors) + 1
