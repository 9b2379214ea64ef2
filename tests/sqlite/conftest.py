"""A store in a file of its own for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pgcontext.principal import Principal
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.values import AccessPolicy, NewEntry

ALICE = Principal("alice")
OpenStore = Callable[..., Awaitable[SqliteStore]]
StoreOne = Callable[..., Awaitable[str]]


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[OpenStore]:
    """Opens stores on this test's file, with any policy and options, and closes them afterwards."""
    stores: list[SqliteStore] = []

    async def open_one(policy: AccessPolicy | None = None, path: Any = None, **options: Any) -> SqliteStore:
        store = SqliteStore(path or tmp_path / "entries.db", policy or AccessPolicy(), **options)
        await store.open()
        stores.append(store)
        return store

    yield open_one
    for store in stores:
        await store.close()


@pytest.fixture
async def store(open_store: OpenStore) -> SqliteStore:
    """A store with the default policy."""
    return await open_store()


@pytest.fixture
def put(store: SqliteStore) -> StoreOne:
    """Stores one entry and gives its id; by default it is of alice, from a user, in thread `t`."""

    async def put_one(text: str, by: Principal = ALICE, **parts: Any) -> str:
        entry = NewEntry(**({"thread_id": "t", "source": "user", "text": text} | parts))
        (outcome,) = await store.store_entries(by, [entry], True)
        assert outcome.entry_id is not None
        return outcome.entry_id

    return put_one
