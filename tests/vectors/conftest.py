"""A store in every storage mode, called directly: vectors come from a model, and here from the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from pgcontext.principal import Principal
from pgcontext.storage.store import Store
from pgcontext.storage.values import EntryFilter, NewEntry, RankedMatch

ALICE = Principal("alice")
StoreFactory = Callable[..., Store]
Put = Callable[..., Awaitable[list[str]]]
Find = Callable[..., Awaitable[list[RankedMatch]]]


@pytest.fixture(scope="module")
async def module_store(mode: str, make_store: StoreFactory) -> AsyncIterator[Store]:
    """One store for a module and a storage mode."""
    store = make_store(mode)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def store(module_store: Store, wipe: Callable[[], None]) -> Store:
    """An empty store."""
    wipe()
    return module_store


@pytest.fixture
def put(store: Store) -> Put:
    """Stores entries, alice's unless told otherwise; their ids."""

    async def put_all(*entries: NewEntry, by: Principal = ALICE) -> list[str]:
        outcomes = await store.store_entries(by, entries, True)
        return [outcome.entry_id for outcome in outcomes if outcome.entry_id is not None]

    return put_all


@pytest.fixture
def find(store: Store) -> Find:
    """Ranks by a vector, for alice unless told otherwise."""

    async def rank(vector: bytes, limit: int = 100, by: Principal = ALICE, **filter: object) -> list[RankedMatch]:
        return await store.rank_vectors(by, vector, EntryFilter(**filter), limit)  # type: ignore[arg-type]

    return rank
