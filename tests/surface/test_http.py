"""The server over HTTP."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client

from pgcontext.http.application import transport_security
from support.options import settings_for
from surface.process import ServerProcess, running

LEGACY = {"mcp-protocol-version": "2025-11-25"}
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
MEBIBYTE = 2**20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running(tmp_path_factory.mktemp("http"), MCP_ALLOWED_HOSTS="memory.example.org") as process:
        yield process


def post(server: ServerProcess, body: bytes | dict[str, Any], **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    common = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    return httpx.post(server.url, content=content, headers={**common, **LEGACY, **headers}, timeout=60)


def call(tool: str, arguments: dict[str, Any], **params: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, **params},
    }


def post_modern(server: ServerProcess, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
    response = post(server, call(tool, arguments, _meta=MODERN_META), **headers)
    result: dict[str, Any] = response.json()["result"]
    return result


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_both_eras_are_served_without_sessions(server: ServerProcess, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        stored = await client.call_tool("store_context", {"thread_id": era, "source": "user", "text": "hello"})
        assert stored.structured_content is not None
        found = await client.call_tool(
            "get_context_by_ids", {"context_ids": [stored.structured_content["context_id"]]}
        )
        assert found.structured_content is not None
        assert found.structured_content["results"][0]["text_content"] == "hello"
    assert "mcp-session-id" not in post(server, call("list_threads", {})).headers


def test_a_single_request_needs_no_handshake(server: ServerProcess) -> None:
    assert post(server, call("list_threads", {})).json()["result"]["isError"] is False
    assert post_modern(server, "list_threads", {})["isError"] is False


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:8000"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "memory.example.org"}, 200),
        ({"host": "memory.example.org:8443"}, 200),
        ({"host": "localhost:1234", "origin": "http://localhost:3000"}, 200),
    ],
)
def test_foreign_hosts_and_origins_are_turned_away(
    server: ServerProcess, headers: dict[str, str], status: int
) -> None:
    assert post(server, call("list_threads", {}), **headers).status_code == status


def test_hosts_and_origins_follow_the_settings() -> None:
    security = transport_security(
        settings_for(
            mcp_http_host="10.0.0.5", mcp_allowed_hosts="a.example:8443", mcp_allowed_origins="https://b.example"
        )
    )
    assert {"10.0.0.5", "10.0.0.5:*", "[::1]:*", "a.example:8443"} <= set(security.allowed_hosts)
    assert {"https://b.example", "http://10.0.0.5:*", "http://localhost"} <= set(security.allowed_origins)
    assert "[fe80::1]:*" in transport_security(settings_for(mcp_http_host="fe80::1")).allowed_hosts


def test_large_texts_and_images_come_back_exactly(server: ServerProcess) -> None:
    text = "é" * (5 * MEBIBYTE // 2)
    image = {"data": base64.b64encode(os.urandom(10 * MEBIBYTE)).decode(), "mime_type": "image/png"}
    arguments = {"thread_id": "large", "source": "user", "text": text, "images": [image]}
    stored = post(server, call("store_context", arguments)).json()["result"]["structuredContent"]
    found = post(server, call("get_context_by_ids", {"context_ids": [stored["context_id"]]})).json()
    [entry] = found["result"]["structuredContent"]["results"]
    assert entry["text_content"] == text
    assert entry["images"] == [image]


@pytest.mark.slow
def test_a_request_may_have_100_mib_and_no_more(server: ServerProcess) -> None:
    arguments = {"thread_id": "large", "source": "user", "text": "", "images": "x" * (100 * MEBIBYTE - 200)}
    response = post(server, call("store_context", arguments))
    assert response.status_code == 200
    assert response.json()["result"]["isError"] is True
    arguments["images"] += "x" * 200
    response = post(server, call("store_context", arguments))
    assert (response.status_code, response.text) == (413, "Request body too large")


def test_lone_surrogates_are_a_clear_error_in_both_eras(server: ServerProcess) -> None:
    entry = {"thread_id": "t", "source": "user", "text": "x"}
    for arguments, message in (
        ({**entry, "text": "a\ud800"}, "text: contains a lone surrogate, which is not a character"),
        ({**entry, "tags": ["\udfff"]}, "tags: a tag contains a lone surrogate, which is not a character"),
        ({**entry, "metadata": {"\ud800": 1}}, "metadata: contains a lone surrogate, which is not a character"),
        (
            {**entry, "metadata": {"a": ["\ud800"]}},
            "metadata: contains a lone surrogate, which is not a character",
        ),
    ):
        result = post_modern(server, "store_context", arguments)
        assert (result["isError"], result["content"][0]["text"]) == (True, message)
        response = post(server, call("store_context", arguments))
        assert response.status_code == 400
        assert "Parse error" in response.json()["error"]["message"]
    filters = [{"key": "\ud800", "operator": "eq", "value": "\ud800", "\ud800": 1}]
    result = post_modern(server, "search_context", {"metadata_filters": filters, "metadata": {"\ud800": 1}})
    assert len(result["structuredContent"]["validation_errors"]) == 4
    assert "no tool" in post_modern(server, "?", {})["content"][0]["text"]


def test_numbers_that_are_not_finite_are_refused(server: ServerProcess) -> None:
    for number in (b"1e400", b"-1e999", b"NaN", b"Infinity"):
        arguments = b'{"thread_id":"t","source":"user","text":"x","metadata":{"n":' + number + b"}}"
        template = json.dumps(call("store_context", {"?": 0})).encode()
        response = post(server, template.replace(b'{"?": 0}', arguments))
        assert "numbers must be finite" in response.json()["result"]["content"][0]["text"]


def test_malformed_requests_get_protocol_errors_and_the_next_one_an_answer(server: ServerProcess) -> None:
    for body in (
        b"",
        b"{",
        b"[]",
        b'{"jsonrpc":"2.0"}',
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    ):
        assert "error" in post(server, body).json()
    assert post(server, call("list_threads", {})).status_code == 200


def test_the_server_does_not_advertise_what_runs_it(server: ServerProcess) -> None:
    assert "server" not in post(server, call("list_threads", {})).headers


def test_a_stopped_server_has_kept_everything(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        post(first, call("store_context", {"thread_id": "t", "source": "user", "text": "kept"}))
        assert first.stop() == 0
    database = tmp_path / ".local" / "share" / "pgcontext" / "pgcontext.db"
    if database.parent.exists():
        assert [path.name for path in database.parent.iterdir()] == [database.name]
    with running(tmp_path) as second:
        found = post(second, call("search_context", {})).json()["result"]["structuredContent"]
    assert [entry["text_content"] for entry in found["results"]] == ["kept"]
