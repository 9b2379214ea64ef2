"""The server as a protected resource: who is let in, what the others are told."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth
from mcp.shared.auth import ProtectedResourceMetadata

from auth.hostile import HOSTILE
from e2e.processes import COMMAND, JSON_HEADERS, ServerProcess, Start, call, client_of, environment
from support.issuer import ISSUER, KeyServer, jwk, jwt_settings, key_set, pem, rsa_key, token

LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    path = tmp_path_factory.mktemp("authorization") / "pgcontext.db"
    return {"STORAGE_BACKEND": "sqlite", "DB_PATH": str(path), "LOG_LEVEL": "DEBUG"}


@pytest.fixture(scope="module")
def server(settings: dict[str, str], folder: Path) -> Iterator[ServerProcess]:
    more = {"MCP_ALLOWED_HOSTS": "memory.example.org", "ENABLE_METRICS": "true"}
    with ServerProcess(settings | jwt_settings() | more, folder) as server:
        yield server


class Answer:
    """Status, headers and body of an answer."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def ask(server: ServerProcess, path: str = "/mcp", method: str = "POST", **headers: str) -> Answer:
    """Send a request as it is, to list the tools."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(
            method, path, json.dumps(LIST_TOOLS) if method == "POST" else None, JSON_HEADERS | names
        )
        return Answer(connection.getresponse())
    finally:
        connection.close()


def bearer(sent: str) -> str:
    return f"Bearer {sent}"


def client_with(server: ServerProcess, sent: str, era: str = "auto") -> AbstractAsyncContextManager[Client]:
    return client_of(server.url, sent, era)


# who is let in


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_call_runs_as_the_subject_of_its_token(server: ServerProcess, era: str) -> None:
    async with (
        client_with(server, token(f"alice-{era}"), era) as alice,
        client_with(server, token("bob"), era) as bob,
    ):
        stored = await call(alice, "store_context", thread_id=era, source="agent", text="for alice alone")
        assert len((await call(alice, "get_context_by_ids", context_ids=[stored["context_id"]]))["results"]) == 1
        assert (await call(bob, "get_context_by_ids", context_ids=[stored["context_id"]]))["results"] == []


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_token_is_a_401_and_the_next_good_one_is_served(server: ServerProcess, kind: str) -> None:
    """C20, C60"""
    refused = ask(server, Authorization=bearer(HOSTILE[kind]()))
    assert refused.status == 401
    assert "store_context" not in refused.text
    assert ask(server, Authorization=bearer(token())).status == 200


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Bearer ", "Basic YWxpY2U6eA==", "token {}", "{}", "Bearer\t{}", "Bearer{}", "Bearer {} x"],
)
def test_what_is_no_bearer_token_is_a_401(server: ServerProcess, value: str) -> None:
    assert ask(server, Authorization=value.format(token())).status == 401


def test_two_tokens_are_no_token(server: ServerProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("POST", "/mcp")
    for name, value in JSON_HEADERS.items():
        connection.putheader(name, value)
    for subject in ("alice", "bob"):
        connection.putheader("Authorization", bearer(token(subject)))
    body = json.dumps(LIST_TOOLS).encode()
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    assert connection.getresponse().status == 401
    connection.close()


@pytest.mark.parametrize(
    "path",
    [
        "/mcp?access_token={}",
        "/mcp/",
        "/mcp%0A",
        "/mcp%0a?x",
        "//mcp",
        "/./mcp",
        "/healthz/../mcp",
        "/healthz%2f..%2fmcp",
        "/%6dcp",
        "/mcp;healthz",
        "/healthz/mcp",
        METADATA + "/../../mcp",
        "/nothing",
        "/",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS", "PUT", "HEAD"])
def test_no_way_of_writing_the_path_goes_round_the_gate(server: ServerProcess, path: str, method: str) -> None:
    refused = ask(server, path.format(token()), method)
    assert 400 <= refused.status < 500
    assert "store_context" not in refused.text


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Forwarded_User": "root"},
        {"X_Forwarded_For": "127.0.0.1"},
        {"X_Principal": "root"},
        {"Cookie": "access_token={}"},
        {"X_Authorization": "Bearer {}"},
        {"Proxy_Authorization": "Bearer {}"},
        {"Mcp_Session_Id": "x"},
    ],
    ids=str,
)
def test_no_other_header_lets_anybody_in(server: ServerProcess, headers: dict[str, str]) -> None:
    assert ask(server, **{name: value.format(token()) for name, value in headers.items()}).status == 401


async def test_nothing_in_a_message_changes_who_calls(server: ServerProcess) -> None:
    meta = {
        "principal": "victim",
        "pgcontext.caller": {"principal": {"id": "victim"}},
        "test.pgcontext/caller": {"id": "victim", "groups": ["team"], "roles": []},
    }
    async with client_with(server, token("victim", groups=["team"])) as victim:
        stored = await call(victim, "store_context", thread_id="secret", source="agent", text="of the victim")
        await call(
            victim,
            "share_context",
            context_id=stored["context_id"],
            principal_type="group",
            principal_id="team",
            permission="read",
        )
    async with client_with(server, token("mallory", groups=["team:", "user:victim", "*", "teams"])) as mallory:
        arguments = {"context_ids": [stored["context_id"]]}
        result = await mallory.call_tool("get_context_by_ids", arguments, meta=meta)  # type: ignore[arg-type]
        assert result.structured_content == {"results": []} or not result.structured_content["results"]
        for argument in ("principal", "owner", "caller", "_meta"):
            answer = await mallory.call_tool("search_context", {argument: "victim"})
            assert "of the victim" not in answer.model_dump_json()


def test_a_session_of_somebody_else_is_of_no_use(server: ServerProcess) -> None:
    """There are no sessions: what an initialisation did binds no later request to a principal."""
    answer = ask(server, Authorization=bearer(token("alice")), Mcp_Session_Id="guess")
    assert "mcp-session-id" not in answer.headers
    assert ask(server, Mcp_Session_Id="guess").status == 401


def test_headers_have_a_bound(server: ServerProcess) -> None:
    try:
        status = ask(server, Authorization=bearer("x" * 200_000)).status
    except (ConnectionError, http.client.HTTPException):
        status = 400
    assert 400 <= status < 500
    assert ask(server, Authorization=bearer(token())).status == 200


def test_nobody_without_a_token_has_a_body_read(server: ServerProcess) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 100000000\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 401")


# what the others are told


def challenge(answer: Answer) -> dict[str, str]:
    scheme, _, parameters = answer.headers["www-authenticate"].partition(" ")
    assert scheme == "Bearer"
    pairs = (parameter.partition("=") for parameter in parameters.split(", "))
    return {name: json.loads(value) for name, _, value in pairs}


def test_a_401_says_where_the_metadata_is(server: ServerProcess) -> None:
    """C54"""
    address = f"http://127.0.0.1:{server.port}{METADATA}/mcp"
    assert challenge(ask(server)) == {"resource_metadata": address}
    wrong = challenge(ask(server, Authorization=bearer(token(key=rsa_key(1)))))
    assert (wrong["resource_metadata"], wrong["error"]) == (address, "invalid_token")
    expired = challenge(ask(server, Authorization=bearer(HOSTILE["expired"]())))
    assert "expired" in expired["error_description"]


def test_the_official_client_understands_what_it_is_told(server: ServerProcess) -> None:
    refused = httpx2.post(server.url, json=LIST_TOOLS, headers=JSON_HEADERS)
    address = extract_resource_metadata_from_www_auth(refused)
    assert address is not None
    metadata = ProtectedResourceMetadata.model_validate_json(httpx2.get(address).content)
    assert [str(issuer) for issuer in metadata.authorization_servers] == [ISSUER]
    assert str(metadata.resource) == server.url


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp"])
def test_the_metadata_names_the_issuer(server: ServerProcess, path: str) -> None:
    """C54"""
    answer = ask(server, path, "GET")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json["resource"] == f"http://127.0.0.1:{server.port}/mcp"
    assert answer.json["authorization_servers"] == [ISSUER]
    assert answer.json["bearer_methods_supported"] == ["header"]


def test_the_address_is_the_one_that_the_client_used(server: ServerProcess) -> None:
    told = challenge(ask(server, Host="memory.example.org"))
    assert told["resource_metadata"] == f"http://memory.example.org{METADATA}/mcp"
    assert (
        ask(server, METADATA, "GET", Host="memory.example.org").json["resource"] == "http://memory.example.org/mcp"
    )


@pytest.mark.parametrize("path", ["/mcp", METADATA, f"{METADATA}/mcp", "/metrics"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": 'localhost:"x'},
        {"Host": "localhost:80@evil.example"},
        {"Origin": "http://evil.example"},
    ],
    ids=str,
)
def test_a_foreign_host_or_origin_learns_nothing(
    server: ServerProcess, path: str, headers: dict[str, str]
) -> None:
    """C56"""
    method = "POST" if path == "/mcp" else "GET"
    refused = ask(server, path, method, Authorization=bearer(token()), **headers)
    assert refused.status in (403, 421)
    assert "evil" not in refused.text + str(refused.headers)


def test_forwarded_headers_of_strangers_change_nothing(server: ServerProcess) -> None:
    told = challenge(ask(server, X_Forwarded_Proto="https", X_Forwarded_Host="memory.example.org"))
    assert told["resource_metadata"].startswith("http://127.0.0.1:")


def test_behind_a_trusted_proxy_the_address_is_the_public_one(settings: dict[str, str], folder: Path) -> None:
    more = {"MCP_TRUSTED_PROXIES": "127.0.0.0/8", "MCP_ALLOWED_HOSTS": "memory.example.org"}
    with ServerProcess(settings | jwt_settings() | more, folder) as server:
        forwarded = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "memory.example.org"}
        told = challenge(ask(server, **forwarded))
        assert told["resource_metadata"] == f"https://memory.example.org{METADATA}/mcp"
        metadata = ask(server, METADATA, "GET", X_Forwarded_Proto="https", Host="memory.example.org").json
        assert metadata["resource"] == "https://memory.example.org/mcp"
        assert ask(server, Authorization=bearer(token()), **forwarded).status == 200
        foreign = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "evil.example"}
        assert ask(server, Authorization=bearer(token()), **foreign).status == 421
        assert challenge(ask(server, X_Forwarded_Proto="gopher"))["resource_metadata"].startswith("http://127.")


def test_a_public_address_in_the_settings_is_the_one_that_is_told(settings: dict[str, str], folder: Path) -> None:
    more = {"MCP_PUBLIC_URL": "https://memory.example.org/team/mcp"}
    with ServerProcess(settings | jwt_settings() | more, folder) as server:
        told = challenge(ask(server))
        assert told["resource_metadata"] == f"https://memory.example.org{METADATA}/team/mcp"
        for path in (METADATA, f"{METADATA}/mcp", f"{METADATA}/team/mcp"):
            answer = ask(server, path, "GET", Host="memory.example.org")
            assert answer.json["resource"] == "https://memory.example.org/team/mcp"
        assert ask(server, Host="memory.example.org", Authorization=bearer(token())).status == 200


def test_a_token_without_the_scopes_is_a_403_that_names_them(settings: dict[str, str], folder: Path) -> None:
    more = {"MCP_AUTH_JWT_REQUIRED_SCOPES": "context:use, context:team"}
    with ServerProcess(settings | jwt_settings(**more), folder) as server:
        assert challenge(ask(server))["scope"] == "context:use context:team"
        for lacking in ({}, {"scope": "context:use"}, {"scp": ["context:team"]}, {"scope": {"context:use": 1}}):
            answer = ask(server, Authorization=bearer(token(**lacking)))
            assert answer.status == 403
            told = challenge(answer)
            assert (told["error"], told["scope"]) == ("insufficient_scope", "context:use context:team")
        for enough in ({"scope": "context:team other context:use"}, {"scp": ["context:use", "context:team"]}):
            assert ask(server, Authorization=bearer(token(**enough))).status == 200
        assert ask(server, METADATA, "GET").json["scopes_supported"] == ["context:use", "context:team"]


def test_pages_of_allowed_origins_and_no_others_may_ask_before_they_send_a_token(server: ServerProcess) -> None:
    wish = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization,mcp-method"}
    allowed = ask(server, "/mcp", "OPTIONS", Origin="http://localhost:6274", **wish)
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == "http://localhost:6274"
    assert "authorization" in allowed.headers["access-control-allow-headers"].lower()
    refused = ask(server, Origin="http://localhost:6274")
    assert (refused.status, "WWW-Authenticate") == (401, refused.headers["access-control-expose-headers"])
    for origin in ("http://evil.example", "http://localhost:6274.evil.example", "http://localhost:x", "null"):
        foreign = ask(server, "/mcp", "OPTIONS", Origin=origin, **wish)
        assert (foreign.status, "access-control-allow-origin" in foreign.headers) == (400, False)


def test_what_one_request_proved_means_nothing_for_the_next_on_its_connection(server: ServerProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    statuses = []
    for headers in ({"Authorization": bearer(token())}, {}, {"Authorization": bearer(token(key=rsa_key(1)))}):
        connection.request("POST", "/mcp", json.dumps(LIST_TOOLS), JSON_HEADERS | headers)
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.close()
    assert statuses == [200, 401, 401]


# the other providers


async def test_with_a_shared_token_everybody_is_the_default_principal(
    settings: dict[str, str], folder: Path
) -> None:
    more = {"MCP_AUTH_PROVIDER": "simple_token", "MCP_AUTH_TOKEN": "correct-horse"}
    with ServerProcess(settings | more, folder) as server:
        for wrong in ("correct-hors", "correct-horse1", "Correct-Horse", token()):
            refused = ask(server, Authorization=bearer(wrong))
            assert refused.status == 401
            assert challenge(refused)["error"] == "invalid_token"
        assert ask(server).status == 401
        async with client_with(server, "correct-horse") as client:
            await call(
                client, "store_context", thread_id="shared", source="agent", text="of the default principal"
            )
        server.stop()
    with ServerProcess(settings, folder) as server:
        async with Client(server.url) as client:
            found = await call(client, "search_context", thread_id="shared")
    assert [entry["is_owner"] for entry in found["results"]] == [True]
    assert "correct-horse" not in server.said()


async def test_stdio_ignores_tokens_and_runs_as_the_default_principal(
    settings: dict[str, str], folder: Path
) -> None:
    """Also with settings that a server on the network would refuse."""
    variables = settings | {"MCP_AUTH_PROVIDER": "jwt", "ACCESS_CONTROL_DEFAULT_PRINCIPAL": "somebody"}
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "serve", "--stdio"], env=environment(variables), cwd=folder
    )
    async with Client(parameters) as client:
        await call(client, "store_context", thread_id="stdio", source="agent", text="of somebody")
    with ServerProcess(settings | {"ACCESS_CONTROL_DEFAULT_PRINCIPAL": "somebody"}, folder) as server:
        async with Client(server.url) as client:
            assert (await call(client, "search_context", thread_id="stdio"))["count"] == 1


@pytest.mark.parametrize("missing", ["MCP_AUTH_JWT_AUDIENCE", "MCP_AUTH_JWT_ISSUER", "MCP_AUTH_JWT_PUBLIC_KEY"])
def test_jwt_without_what_makes_it_safe_does_not_start(
    settings: dict[str, str], start: Start, missing: str
) -> None:
    """C20"""
    refused = start({name: value for name, value in (settings | jwt_settings()).items() if name != missing})
    assert refused.process.wait(60) == 78
    assert missing in refused.said()


# keys that the issuer publishes


def test_keys_are_fetched_and_replaced_as_the_issuer_says(settings: dict[str, str], folder: Path) -> None:
    published = jwk(rsa_key(), kid="one")
    with KeyServer(key_set(published)).running() as issuer:
        chosen = jwt_settings(MCP_AUTH_JWT_JWKS_URI=issuer.url)
        del chosen["MCP_AUTH_JWT_PUBLIC_KEY"]
        with ServerProcess(settings | chosen, folder) as server:
            for _ in range(3):
                assert ask(server, Authorization=bearer(token(header={"kid": "one"}))).status == 200
            assert issuer.asked == 1
            for kid in ("two", "three", "../../etc/passwd"):
                assert ask(server, Authorization=bearer(token(header={"kid": kid}))).status == 401
            assert issuer.asked == 1
            confused = HOSTILE["HS256 with the key set"]()
            assert ask(server, Authorization=bearer(confused)).status == 401


def test_an_issuer_that_is_down_is_a_503_and_no_reason_to_throw_tokens_away(
    settings: dict[str, str], folder: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    chosen = jwt_settings(MCP_AUTH_JWT_JWKS_URI=f"http://127.0.0.1:{port}/keys")
    del chosen["MCP_AUTH_JWT_PUBLIC_KEY"]
    with ServerProcess(settings | chosen, folder) as server:
        answer = ask(server, Authorization=bearer(token()))
        assert (answer.status, "retry-after" in answer.headers) == (503, True)
        assert ask(server, Authorization=bearer(HOSTILE["alg none"]())).status == 401
        assert ask(server, "/healthz", "GET").status == 200


# what operators see


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_token_and_no_name(server: ServerProcess, path: str) -> None:
    answer = ask(server, path, "GET", Host="10.1.2.3:8000")
    assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_metrics_count_without_naming_anybody(server: ServerProcess) -> None:
    ask(server, Authorization=bearer(token("metric-subject", groups=["metric-group"])))
    ask(server, "/made-up-path", Authorization=bearer(token("metric-subject")))
    ask(server, Authorization=bearer(HOSTILE["expired"]()))
    answer = ask(server, "/metrics", "GET")
    assert answer.status == 200
    assert 'pgcontext_http_requests_total{method="POST",path="/mcp",status="200"}' in answer.text
    assert 'pgcontext_http_requests_total{method="POST",path="other",status="404"}' in answer.text
    assert 'pgcontext_tokens_refused_total{reason="expired"}' in answer.text
    assert "pgcontext_storage_connections_limit" in answer.text
    assert 'pgcontext_tool_call_seconds_count{outcome="ok",tool="store_context"}' in answer.text
    for word in ("metric-subject", "metric-group", "made-up", "alice", "evil"):
        assert word not in answer.text


def test_metrics_are_shown_only_if_wanted(settings: dict[str, str], folder: Path) -> None:
    with ServerProcess(settings, folder) as server:
        assert ask(server, "/metrics", "GET").status == 404


@pytest.mark.parametrize("form", ["text", "json"])
async def test_the_log_tells_who_did_what_without_tokens_and_texts(
    settings: dict[str, str], folder: Path, form: str
) -> None:
    sent = token("logged-alice")
    with ServerProcess(settings | jwt_settings(LOG_FORMAT=form), folder) as server:
        async with client_with(server, sent) as client:
            await call(client, "store_context", thread_id="hidden-thread", source="agent", text="hidden-text")
            await client.call_tool("get_context_by_ids", {"context_ids": ["hidden-id"]})
        async with client_with(server, sent, "legacy") as client:
            await call(client, "search_context", thread_id="hidden-thread")
        ask(server, Authorization=bearer(HOSTILE["expired"]()))
        ask(server, f"/mcp?access_token={sent}")
        said = server.said()
    for secret in (
        sent,
        sent.rpartition(".")[2],
        "hidden-text",
        "hidden-thread",
        "hidden-id",
        pem(rsa_key())[60:100],
    ):
        assert secret not in said
    if form == "json":
        lines = [json.loads(line) for line in said.splitlines() if not line.startswith("pgcontext listens")]
        told = [line for line in lines if line.get("tool") == "store_context"]
        assert [(line["principal"], line["status"], line["outcome"]) for line in told] == [
            ("logged-alice", 200, "ok")
        ]
        assert {"time", "level", "logger", "message", "ms"} <= told[0].keys()
    else:
        assert 'tool="store_context" outcome="ok" principal="logged-alice"' in said
