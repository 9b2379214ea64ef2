"""The command line, the settings and stdio."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pgcontext import __version__
from pgcontext.errors import StartRefused
from pgcontext.settings import Settings, load_settings
from support.options import settings_for
from surface.process import COMMAND, environment, run


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No variable of pgcontext's is set, and no `.env` file is there."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)
    return monkeypatch


# settings


@pytest.mark.parametrize(
    "variable, value",
    [
        ("LOG_LEVEL", "LOUD"),
        ("STORAGE_BACKEND", "oracle"),
        ("SEARCH_TRUNCATION_LENGTH", "49"),
        ("SEARCH_TRUNCATION_LENGTH", "1001"),
        ("MAX_IMAGE_SIZE_MB", "0"),
        ("MCP_TRANSPORT", "sse"),
        ("MCP_HTTP_PORT", "65536"),
        ("LOG_FORMAT", "xml"),
        ("MCP_PUBLIC_URL", "memory.example.org"),
        ("MCP_PUBLIC_URL", "https://memory.example.org/mcp?x"),
        ("MCP_TRUSTED_PROXIES", "10.0.0.0/8, proxy"),
        ("ENABLE_METRICS", "often"),
        ("MCP_AUTH_PROVIDER", "oauth"),
        ("MCP_AUTH_JWT_ALGORITHM", "HS256"),
        ("MCP_AUTH_JWT_ALGORITHM", "none"),
        ("MCP_AUTH_JWT_LEEWAY_S", "301"),
        ("ACCESS_CONTROL_DEFAULT_PRINCIPAL", " me"),
        ("ACCESS_CONTROL_ANONYMOUS_PRINCIPAL", "x" * 257),
        ("ACCESS_CONTROL_DEFAULT_VISIBILITY", "secret"),
        ("ACCESS_CONTROL_DEFAULT_GROUP_GRANTS", "all"),
        ("ENABLE_POSTGRESQL_RLS", "perhaps"),
        ("METADATA_INDEXED_FIELDS", "status:text"),
        ("METADATA_INDEXED_FIELDS", "a b"),
        ("METADATA_INDEXED_FIELDS", "a..b"),
        ("METADATA_INDEXED_FIELDS", "a,a:integer"),
        ("METADATA_INDEX_SYNC_MODE", "always"),
        ("POSTGRESQL_PORT", "five"),
        ("POSTGRESQL_SCHEMA", 'x"; drop'),
        ("POSTGRESQL_SCHEMA", "pg_own"),
        ("POSTGRESQL_POOL_MIN", "21"),
        ("POSTGRESQL_POOL_TIMEOUT_S", "0"),
    ],
)
def test_a_wrong_value_names_its_variable(bare_environment: pytest.MonkeyPatch, variable: str, value: str) -> None:
    bare_environment.setenv(variable, value)
    with pytest.raises(StartRefused) as refused:
        load_settings()
    assert str(refused.value).startswith(variable)


def test_all_wrong_values_are_told_at_once(bare_environment: pytest.MonkeyPatch) -> None:
    bare_environment.setenv("STORAGE_BACKEND", "oracle")
    bare_environment.setenv("MCP_HTTP_PORT", "http")
    with pytest.raises(StartRefused) as refused:
        load_settings()
    assert len(str(refused.value).splitlines()) == 2


def test_an_empty_variable_counts_as_unset(bare_environment: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        bare_environment.setenv(name.upper(), "")
    assert load_settings().model_dump() == settings_for().model_dump()


def test_the_environment_wins_over_the_env_file(bare_environment: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("MCP_HTTP_PORT=1111\nSTORAGE_BACKEND=postgresql\nUNRELATED=1\n")
    bare_environment.setenv("MCP_HTTP_PORT", "2222")
    settings = load_settings({"mcp_http_host": "0.0.0.0"})
    assert (settings.mcp_http_port, settings.storage_backend, settings.mcp_http_host) == (
        2222,
        "postgresql",
        "0.0.0.0",
    )


def test_indexed_fields_are_names_with_types(bare_environment: pytest.MonkeyPatch) -> None:
    assert load_settings().metadata_indexed_fields["references"] == "object"
    bare_environment.setenv("METADATA_INDEXED_FIELDS", " status , priority:integer,a.b-c:float ")
    assert load_settings().metadata_indexed_fields == {"status": "string", "priority": "integer", "a.b-c": "float"}


def test_the_access_policy_follows_the_settings() -> None:
    policy = settings_for(
        access_control_default_visibility="public",
        access_control_publish_role="publisher",
        access_control_anonymous_principal="nobody",
        access_control_default_group_grants="author_groups",
    ).access_policy()
    assert (policy.default_visibility, policy.publish_role) == ("public", "publisher")
    assert (policy.anonymous_principal, policy.author_group_grants) == ("nobody", True)


def test_the_connection_string_is_given_or_made_of_its_parts_and_never_shown() -> None:
    parts = settings_for(postgresql_host="db", postgresql_user="u", postgresql_password="p w'd")
    assert (
        parts.postgres_options().conninfo
        == r"host=db port=5432 user=u password='p w\'d' dbname=pgcontext sslmode=prefer"
    )
    whole = settings_for(postgresql_connection_string="postgresql://u:secret@db/x", postgresql_host="other")
    assert whole.postgres_options().conninfo == "postgresql://u:secret@db/x"
    assert "secret" not in repr(whole)
    assert "p w" not in repr(parts)


# the command


def test_version_and_help(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout == f"pgcontext {__version__}\n"
    without_command = run(tmp_path)
    assert (without_command.returncode, without_command.stdout) == (2, "")
    assert "serve" in without_command.stderr


@pytest.mark.parametrize(
    "variables, message",
    [
        ({"STORAGE_BACKEND": "oracle"}, "STORAGE_BACKEND"),
        ({"MCP_AUTH_PROVIDER": "simple_token"}, "MCP_AUTH_TOKEN"),
        ({"MCP_AUTH_PROVIDER": "jwt"}, "MCP_AUTH_JWT_AUDIENCE"),
        ({"DISABLED_TOOLS": "drop_context"}, "DISABLED_TOOLS: no tool is called drop_context"),
    ],
)
def test_wrong_settings_stop_the_start_with_status_78(
    tmp_path: Path, variables: dict[str, str], message: str
) -> None:
    refused = run(tmp_path, "serve", **variables)
    assert (refused.returncode, refused.stdout) == (78, "")
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_storage_that_cannot_be_opened_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = run(tmp_path, "serve", DB_PATH=str(tmp_path / "file" / "x.db"))
    assert refused.returncode == 1
    assert "The storage cannot be opened" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_port_in_use_is_told_without_a_traceback(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run(tmp_path, "serve", "--port", str(port))
    assert refused.returncode == 1
    assert f"Cannot listen on 127.0.0.1 port {port}" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_migrate_creates_the_file_and_its_folders_and_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "context.db"
    for _ in range(2):
        assert run(tmp_path, "migrate", DB_PATH=str(path)).returncode == 0
    assert path.exists()


# stdio


def talk(folder: Path, *lines: str | dict[str, Any], answers: int, **variables: str) -> dict[Any, dict[str, Any]]:
    """What a server on stdio answers to these lines, by id; fails when it says anything that is not JSON-RPC."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--stdio"],
        cwd=folder,
        env=environment(folder, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.writelines(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    process.stdin.flush()
    said = [json.loads(process.stdout.readline()) for _ in range(answers)]
    rest, _ = process.communicate(timeout=30)
    assert (rest, process.returncode) == ("", 0)
    assert all(answer["jsonrpc"] == "2.0" for answer in said)
    return {answer.get("id"): answer for answer in said}


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def tool_call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def test_stdout_carries_nothing_but_json_rpc(tmp_path: Path) -> None:
    entry = {"thread_id": "t", "source": "user", "text": "hello"}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines: list[Any] = [
        INITIALIZE,
        initialized,
        tool_call(1, "store_context", entry),
        tool_call(2, "list_threads", {}),
    ]
    answers = talk(tmp_path, *lines, answers=3, LOG_LEVEL="DEBUG")
    assert answers[0]["result"]["serverInfo"]["name"] == "pgcontext"
    assert answers[1]["result"]["structuredContent"]["success"] is True
    assert answers[2]["result"]["isError"] is False


def test_lines_that_cannot_be_read_are_answered_and_harm_nothing(tmp_path: Path) -> None:
    surrogate = tool_call(1, "store_context", {"thread_id": "t", "source": "user", "text": "a\ud800"})
    lines: list[Any] = [INITIALIZE, "nonsense", surrogate, tool_call(2, "drop_everything", {})]
    answers = talk(tmp_path, *lines, answers=4)
    assert answers[None]["error"]["code"] == -32700
    assert "lone surrogate" in answers[1]["result"]["content"][0]["text"]
    assert answers[2]["result"]["isError"] is True
