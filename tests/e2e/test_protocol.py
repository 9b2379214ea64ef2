"""The official client, in both eras of the protocol, over HTTP and stdio."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from e2e.processes import COMMAND, ServerProcess, call, environment

ERAS = ("auto", "legacy")
LIST_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()


async def use_every_way(client: Client, thread: str) -> None:
    """Store, find, read, change and delete one entry."""
    assert "store_context" in [tool.name for tool in (await client.list_tools()).tools]
    stored = await call(client, "store_context", thread_id=thread, source="agent", text="Zwölf Boxkämpfer 🥊")
    found = await call(client, "search_context", thread_id=thread)
    assert [entry["id"] for entry in found["results"]] == [stored["context_id"]]
    await call(client, "update_context", context_id=stored["context_id"], tags=["Boxing"])
    read = await call(client, "get_context_by_ids", context_ids=[stored["context_id"]])
    assert read["results"][0]["text_content"] == "Zwölf Boxkämpfer 🥊"
    assert read["results"][0]["tags"] == ["boxing"]
    assert (await call(client, "delete_context", thread_id=thread))["deleted_count"] == 1


@pytest.mark.parametrize("era", ERAS)
async def test_official_client_over_http(server: ServerProcess, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        await use_every_way(client, f"http-{era}")


@pytest.mark.parametrize("era", ERAS)
async def test_official_client_over_stdio(storage: dict[str, str], folder: Path, era: str) -> None:
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "serve", "--stdio"], env=environment(storage), cwd=folder
    )
    async with Client(parameters, mode=era) as client:
        await use_every_way(client, f"stdio-{era}")


def test_stdout_carries_json_rpc_only(storage: dict[str, str], folder: Path) -> None:
    """C77, with a talkative log, a line that is no message, and a call that fails."""
    messages: list[dict[str, Any]] = [
        _request(
            1,
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        ),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _request(2, "tools/list"),
        _request(
            3, "tools/call", name="store_context", arguments={"thread_id": "t", "source": "user", "text": "x"}
        ),
        _request(4, "tools/call", name="store_context", arguments={"thread_id": "t"}),
        _request(5, "no/such/method"),
    ]
    # the answers are awaited before stdin ends, as a client does
    with subprocess.Popen(
        [*COMMAND, "serve", "--stdio"],
        env=environment(storage | {"LOG_LEVEL": "DEBUG"}),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("this is no message\n")
        process.stdin.writelines(json.dumps(message) + "\n" for message in messages)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(6)]
        rest, _ = process.communicate(timeout=30)
    assert rest == ""
    assert process.returncode == 0
    assert {answer["jsonrpc"] for answer in answers} == {"2.0"}
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id.keys() == {None, 1, 2, 3, 4, 5}
    assert by_id[3]["result"]["structuredContent"]["success"] is True
    assert by_id[4]["result"]["isError"] is True
    assert "error" in by_id[5]
    assert "error" in by_id[None]


def _request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "https://localhost.evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_foreign_host_or_origin_is_refused(server: ServerProcess, headers: dict[str, str]) -> None:
    """C56: a web page that resolves its own name to this address gets nothing."""
    status, body = server.post(LIST_TOOLS, **headers)
    assert 400 <= status < 500
    assert b"store_context" not in body


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1"])
def test_local_origin_is_served(server: ServerProcess, origin: str) -> None:
    status, body = server.post(LIST_TOOLS, Origin=origin)
    assert status == 200
    assert b"store_context" in body


async def test_configured_host_and_origin_are_served(storage: dict[str, str], folder: Path) -> None:
    settings = {
        "MCP_ALLOWED_HOSTS": "memory.example.org, other.example.org:8443",
        "MCP_ALLOWED_ORIGINS": "https://app.example.org",
    }
    with ServerProcess(storage | settings, folder) as server:
        good = server.post(LIST_TOOLS, Host="memory.example.org", Origin="https://app.example.org")
        with_port = server.post(LIST_TOOLS, Host="other.example.org:8443")
        bad = server.post(LIST_TOOLS, Host="third.example.org")
    assert good[0] == with_port[0] == 200
    assert 400 <= bad[0] < 500


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"[" * 100_000])
def test_malformed_body_is_a_client_error(server: ServerProcess, body: bytes) -> None:
    status, _ = server.post(body)
    assert 400 <= status < 500
    assert server.post(LIST_TOOLS)[0] == 200
