"""However little of what is stored a caller may read, and whatever lies beside it: the answer of an exact scan."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgcontext.principal import Principal
from pgcontext.storage.store import Store
from pgcontext.storage.values import MetadataCondition
from support.vectors import embedded, make_vector, make_vectors, near, nearest
from vectors.conftest import ALICE, Find, Put

BOB = Principal("bob")
HERE = make_vector(1)


async def test_a_hidden_near_duplicate_takes_no_slot_and_changes_no_rank(put: Put, find: Find) -> None:
    await put(*(embedded(f"mine {number}", near(HERE, number)) for number in range(30)))
    before = await find(HERE, 10)
    await put(*(embedded(f"mine {number}", HERE) for number in range(50)), by=BOB)
    assert await find(HERE, 10) == before
    assert len(await find(HERE, by=BOB)) == 50


@pytest.mark.parametrize(
    "beside",
    [{"thread_id": "other"}, {"source": "agent"}, {"tags": ("other",)}, {"metadata": {"status": "other"}}],
    ids=["thread", "source", "tag", "metadata"],
)
async def test_a_near_duplicate_outside_the_filter_takes_no_slot_and_changes_no_rank(
    put: Put, find: Find, beside: dict[str, object]
) -> None:
    mine = {"tags": ("mine",), "metadata": {"status": "mine"}}
    await put(*(embedded(f"mine {number}", near(HERE, number), **mine) for number in range(30)))
    asked = {
        "thread_id": "t",
        "source": "user",
        "tags": ("mine",),
        "metadata": (MetadataCondition("status", "eq", "mine"),),
    }
    before = await find(HERE, 10, **asked)
    assert len(before) == 10
    await put(*(embedded(f"beside {number}", HERE, **(mine | beside)) for number in range(50)))
    found = await find(HERE, 10, **asked)
    assert [(match.entry_id, match.semantic_distance) for match in found] == [
        (match.entry_id, match.semantic_distance) for match in before
    ]


async def test_a_near_duplicate_of_another_date_takes_no_slot(store: Store, put: Put, find: Find) -> None:
    entry_ids = await put(*(embedded(f"mine {number}", near(HERE, number)) for number in range(5)))
    (last,) = await store.get_entries(ALICE, entry_ids[-1:])
    before = await find(HERE, 5, created_to=datetime.fromisoformat(last.created_at))
    await put(*(embedded(f"later {number}", HERE) for number in range(20)))
    assert await find(HERE, 5, created_to=datetime.fromisoformat(last.created_at)) == before


async def test_what_is_shared_and_what_is_public_is_found(store: Store, put: Put, find: Find) -> None:
    shared, _private, public = await put(
        embedded("shared", HERE), embedded("private", HERE), embedded("public", HERE, visibility="public"), by=BOB
    )
    await store.share_entry(BOB, shared, "user", "alice", "read")
    assert {match.entry_id for match in await find(HERE)} == {shared, public}
    await store.unshare_entry(BOB, shared, "user", "alice", "read")
    assert {match.entry_id for match in await find(HERE)} == {public}


async def test_without_a_readable_entry_nothing_is_found(put: Put, find: Find) -> None:
    await put(embedded("text", HERE), by=BOB)
    assert await find(HERE) == []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0.01, 1), limit=st.integers(1, 120), seed=st.integers(0, 2**32 - 1))
async def test_any_share_of_what_is_stored_gives_the_page_of_an_exact_scan(
    put: Put, find: Find, wipe: object, share: float, limit: int, seed: int
) -> None:
    wipe()  # type: ignore[operator]
    vectors = make_vectors(400, seed)
    is_mine = np.random.default_rng(seed).random(400) < share
    mine = await put(*(embedded(f"{row}", vectors[row].tobytes()) for row in np.flatnonzero(is_mine)))
    await put(*(embedded(f"{row}", vectors[row].tobytes()) for row in np.flatnonzero(~is_mine)), by=BOB)
    query = make_vector(seed + 1)
    expected = {mine[row] for row in nearest(vectors[is_mine], query, limit)}
    found = {match.entry_id for match in await find(query, limit)}
    assert len(found) == len(expected)
    assert len(found & expected) >= 0.95 * len(expected)
