"""The issuer for development: `pgcontext token`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import jwt
import pytest

from pgcontext.auth.issuer import Issuer, UnsafeKeyFile
from pgcontext.auth.provider import create_verifier
from pgcontext.principal import Principal
from support.options import settings_for
from surface.process import COMMAND, environment, run

ISSUER = {"mcp_auth_provider": "jwt", "mcp_auth_jwt_issuer": "http://127.0.0.1:8001"}


async def test_a_printed_token_is_believed_by_a_server_that_has_the_printed_key(tmp_path: Path) -> None:
    arguments = (
        "--subject",
        "alice",
        "--group",
        "a",
        "--group",
        "b",
        "--role",
        "r",
        "--scope",
        "s",
        "--audience",
        "x",
    )
    sent = run(tmp_path, "token", *arguments).stdout.strip()
    key = run(tmp_path, "token", "--public-key").stdout
    verifier = create_verifier(
        settings_for(**ISSUER, mcp_auth_jwt_public_key=key, mcp_auth_jwt_audience="x", mcp_auth_jwt_leeway_s=5)
    )
    assert verifier
    caller = await verifier.verify(sent)
    assert (caller.principal, caller.scopes) == (Principal("alice", ("a", "b"), ("r",)), {"s"})


@contextmanager
def serving_keys(folder: Path) -> Iterator[str]:
    """`pgcontext token --serve`; the address that it tells."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [*COMMAND, "token", "--serve", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=folder, env=environment(folder), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        try:
            told = dict(process.stderr.readline().strip().split("=", 1) for _ in range(2))
            assert told["MCP_AUTH_JWT_ISSUER"] == f"http://127.0.0.1:{port}"
            yield told["MCP_AUTH_JWT_JWKS_URI"]
        finally:
            process.terminate()


def test_the_served_keys_are_public_and_nothing_gives_out_tokens(tmp_path: Path) -> None:
    printed = json.loads(run(tmp_path, "token", "--jwks").stdout)
    with serving_keys(tmp_path) as address:
        transport = httpx2.HTTPTransport(retries=5)
        with httpx2.Client(transport=transport) as client:
            assert client.get(address).json() == printed
            base = address.removesuffix("/.well-known/jwks.json")
            metadata = client.get(f"{base}/.well-known/oauth-authorization-server").json()
            assert (metadata["issuer"], metadata["jwks_uri"]) == (base, address)
            assert client.post(f"{base}/token", data={"sub": "root"}).status_code == 404
    (key,) = printed["keys"]
    assert key.keys() == {"kty", "n", "e", "kid", "use", "alg"}


def test_the_key_file_is_for_its_owner_alone_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "made" / "keys.json"
    first = Issuer(path).key_set()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["keys.json"]
    assert Issuer(path).key_set() == first


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_a_key_file_that_others_may_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keys.json"
    Issuer(path)
    path.chmod(mode)
    with pytest.raises(UnsafeKeyFile, match="chmod 600"):
        Issuer(path)
    refused = run(tmp_path, "token", "--subject", "alice", "--keys", str(path))
    assert (refused.returncode, refused.stdout) == (78, "")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kty": "RSA"}', '{"kty": "oct", "k": "c2VjcmV0"}'])
def test_a_file_that_holds_no_key_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(UnsafeKeyFile):
        Issuer(path)
    assert path.read_text() == text


def test_of_many_that_make_the_key_at_once_all_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        issuers = list(pool.map(Issuer, [tmp_path / "keys.json"] * 8))
    assert len({json.dumps(issuer.key_set()) for issuer in issuers}) == 1


@pytest.mark.parametrize(
    "arguments",
    [("--subject", " a"), ("--subject", ""), ("--subject", "a", "--group", ""), ("--subject", "a" * 257)],
)
def test_a_name_that_no_token_may_carry_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    refused = run(tmp_path, "token", *arguments)
    assert (refused.returncode, refused.stdout) == (78, "")
    assert "must be 1 to 256 characters" in refused.stderr


def test_a_token_lives_as_long_as_asked(tmp_path: Path) -> None:
    sent = run(tmp_path, "token", "--subject", "alice", "--lifetime", "5").stdout.strip()
    claims = jwt.decode(sent, options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == 5
    assert run(tmp_path, "token", "--subject", "alice", "--lifetime", "0").returncode == 2
    assert run(tmp_path, "token").returncode == 2
