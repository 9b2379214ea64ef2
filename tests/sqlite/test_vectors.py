"""The vectors that a process holds in memory follow what any process does to the file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from pgcontext.storage.sqlite.chunks import split_text
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.values import EntryFilter, NewEntry
from sqlite.conftest import ALICE, OpenStore
from support.vectors import embedded, make_vector, make_vectors, near

HERE = make_vector(1)


async def _found(store: SqliteStore, limit: int = 100) -> set[str]:
    return {match.entry_id for match in await store.rank_vectors(ALICE, HERE, EntryFilter(), limit)}


async def _put(store: SqliteStore, *entries: NewEntry) -> set[str]:
    return {str(outcome.entry_id) for outcome in await store.store_entries(ALICE, entries, True)}


async def test_two_stores_on_one_file_see_each_others_vectors(open_store: OpenStore) -> None:
    one, other = await open_store(), await open_store()
    expected: set[str] = set()
    for number in range(4):
        for store in (one, other):
            expected |= await _put(store, embedded(f"text {number}", near(HERE, number)))
            assert await _found(one) == await _found(other) == expected
    await other.delete_entries(ALICE, None, ["t"], None, None)
    assert await _found(one) == set()
    expected = await _put(one, embedded("new", HERE))
    assert await _found(one) == await _found(other) == expected


async def test_vectors_outlive_growing_and_deleting(open_store: OpenStore) -> None:
    """More than fit into the first arrays, of which most are deleted on the way."""
    store = await open_store()
    vectors = make_vectors(1500, 3)
    for begin in range(0, 1500, 500):
        stored = await _put(
            store, *(embedded(f"{row}", vectors[row].tobytes()) for row in range(begin, begin + 500))
        )
        await _found(store)
        await store.delete_entries(ALICE, sorted(stored)[5:], None, None, None)
    assert len(await _found(store)) == 15


async def test_an_embedding_of_another_size_is_refused(open_store: OpenStore) -> None:
    store = await open_store()
    with pytest.raises(ValueError, match="384"):
        await _put(store, embedded("text", HERE[:-2]))


async def test_entries_from_before_get_chunks_when_the_store_opens(open_store: OpenStore, tmp_path: Path) -> None:
    store = await open_store()
    await _put(store, *(NewEntry("t", "user", f"text {number}") for number in range(3)))
    await _put(store, NewEntry("t", "user", "word " * 1000))
    await store.close()
    with apsw.Connection(str(tmp_path / "entries.db")) as connection:
        connection.execute("pragma foreign_keys = on; delete from chunk")
    again = await open_store()
    assert (await again.get_statistics(ALICE)).indexed_entries == 4


@pytest.mark.parametrize(
    "text", ["", " ", "a", "x" * 1500, "x" * 1501, "word " * 1000, "\u00e9\U0001f600 " * 2000]
)
def test_a_cut_text_is_covered(text: str) -> None:
    spans = split_text(text)
    assert spans[0].begin == 0
    assert spans[-1].end == len(text)
    for before, after in pairwise(spans):
        assert before.begin < after.begin <= before.end < after.end
        assert before.end - after.begin <= 150
    assert all(span.end - span.begin <= 1500 for span in spans)
