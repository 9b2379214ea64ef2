"""Large requests: what fits goes through whole, what does not is refused cleanly."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from e2e.processes import ServerProcess, ToolFailed, call

MIB = 2**20


def image(size: int, seed: int = 0) -> dict[str, Any]:
    """An image of so many bytes; nobody looks inside."""
    data = base64.b64encode(random.Random(seed).randbytes(size)).decode()
    return {"data": data, "mime_type": "image/png", "metadata": '{"caption": "noise"}'}


@pytest.mark.slow
async def test_large_image_and_text_come_back_exactly(server: ServerProcess) -> None:
    picture = image(10 * MIB)
    words = [f"wort{number} 文字 🥊\n" for number in range(100_000)]
    text = "".join(random.Random(1).choices(words, k=320_000))[: 5 * MIB].strip()
    assert len(text) > 4 * MIB
    async with Client(server.url) as client:
        stored = await call(
            client, "store_context", thread_id="large", source="agent", text=text, images=[picture]
        )
        read = await call(client, "get_context_by_ids", context_ids=[stored["context_id"]])
    (entry,) = read["results"]
    assert entry["text_content"] == text
    assert entry["images"] == [picture]


@pytest.mark.slow
async def test_image_above_its_limit_is_refused(server: ServerProcess) -> None:
    async with Client(server.url) as client:
        with pytest.raises(ToolFailed, match="at most 10 MB"):
            await call(
                client, "store_context", thread_id="t", source="agent", text="x", images=[image(10 * MIB + 1)]
            )


@pytest.mark.slow
async def test_request_of_60_mb_passes(server: ServerProcess) -> None:
    pictures = [image(9 * MIB, seed) for seed in range(5)]
    async with Client(server.url) as client:
        stored = await call(
            client, "store_context", thread_id="60 MB", source="agent", text="five pictures", images=pictures
        )
        read = await call(client, "get_context_by_ids", context_ids=[stored["context_id"]])
    assert len(json.dumps(pictures)) > 60 * 10**6
    assert read["results"][0]["images"] == pictures


@pytest.mark.slow
def test_request_above_the_default_limit_is_refused(server: ServerProcess) -> None:
    assert server.post(_chunks(101))[0] == 413


def _chunks(megabytes: int) -> Iterator[bytes]:
    yield from [b"x" * MIB] * megabytes


async def test_request_above_the_limit_is_refused_cleanly(storage: dict[str, str], folder: Path) -> None:
    """A body announced as too long, one that turns out too long, and the official client in both eras."""
    with ServerProcess(storage | {"MAX_TOTAL_SIZE_MB": "1"}, folder) as server:
        status, body = server.post(b"x" * (MIB + 1))
        assert (status, len(body) < 1000) == (413, True)
        assert server.post(_chunks(2))[0] == 413
        for era in ("auto", "legacy"):
            async with Client(server.url, mode=era) as client:
                with pytest.raises(MCPError):
                    await call(client, "store_context", thread_id="t", source="agent", text="x" * (MIB + 1))
                assert await call(client, "store_context", thread_id="t", source="agent", text="x" * (MIB // 2))
