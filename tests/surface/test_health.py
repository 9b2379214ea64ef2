"""Whether a server says that it can serve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest
from starlette.applications import Starlette

from pgcontext.errors import Busy
from pgcontext.http import health as module
from pgcontext.http.health import Health
from pgcontext.principal import Principal


class Store:
    """A store that answers as the test says."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer
        self.asked = 0

    async def get_entries(self, _caller: Principal, _entry_ids: Any) -> list[Any]:
        self.asked += 1
        await self.answer()
        return []


def client_of(store: Any) -> httpx2.AsyncClient:
    app = Starlette(routes=Health(store, Principal("local")).routes())
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://server")


async def busy() -> None:
    raise Busy


@pytest.mark.parametrize("answer", [busy, anyio.sleep_forever], ids=["busy", "no answer"])
async def test_a_server_whose_store_does_not_answer_lives_but_is_not_ready(
    answer: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.01)
    async with client_of(Store(answer)) as client:
        assert (await client.get("/healthz")).status_code == 200
        refused = await client.get("/readyz")
    assert (refused.status_code, refused.json()) == (503, {"status": "the storage does not answer"})


async def test_many_who_ask_at_once_cost_the_store_one_call() -> None:
    store = Store(anyio.lowlevel.checkpoint)
    async with client_of(store) as client, anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(client.get, "/readyz")
    assert store.asked == 1


async def test_a_server_is_ready_again_when_its_store_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_VALID_SECONDS", 0)
    store = Store(busy)
    async with client_of(store) as client:
        assert (await client.get("/readyz")).status_code == 503
        store.answer = anyio.lowlevel.checkpoint
        assert (await client.get("/readyz")).status_code == 200
