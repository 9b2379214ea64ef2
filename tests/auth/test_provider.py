"""Which settings make a server that checks tokens, and which are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgcontext.auth.provider import create_verifier
from pgcontext.errors import StartRefused
from pgcontext.principal import Principal
from support.issuer import AUDIENCE, ISSUER, ec_key, pem, rsa_key, token
from support.options import settings_for

GOOD: dict[str, Any] = {
    "mcp_auth_provider": "jwt",
    "mcp_auth_jwt_public_key": pem(rsa_key()),
    "mcp_auth_jwt_issuer": ISSUER,
    "mcp_auth_jwt_audience": AUDIENCE,
}


def test_without_a_provider_nobody_checks_tokens() -> None:
    assert create_verifier(settings_for()) is None


@pytest.mark.parametrize(
    "changes, faults",
    [
        ({"mcp_auth_jwt_audience": ""}, ["MCP_AUTH_JWT_AUDIENCE"]),
        ({"mcp_auth_jwt_issuer": None}, ["MCP_AUTH_JWT_ISSUER"]),
        ({"mcp_auth_jwt_public_key": None}, ["MCP_AUTH_JWT_PUBLIC_KEY or MCP_AUTH_JWT_JWKS_URI"]),
        (
            {"mcp_auth_jwt_jwks_uri": "https://a.example/keys"},
            ["MCP_AUTH_JWT_PUBLIC_KEY or MCP_AUTH_JWT_JWKS_URI"],
        ),
        (
            {"mcp_auth_jwt_public_key": None, "mcp_auth_jwt_jwks_uri": "http://a.example/keys"},
            ["MCP_AUTH_JWT_JWKS_URI"],
        ),
        ({"mcp_auth_jwt_public_key": None, "mcp_auth_jwt_jwks_uri": "file:///keys"}, ["MCP_AUTH_JWT_JWKS_URI"]),
        ({"mcp_auth_jwt_public_key": None, "mcp_auth_jwt_jwks_uri": "https://[x"}, ["MCP_AUTH_JWT_JWKS_URI"]),
        ({"mcp_auth_jwt_public_key": "/no/such/file"}, ["MCP_AUTH_JWT_PUBLIC_KEY"]),
        ({"mcp_auth_jwt_public_key": pem(ec_key())}, ["MCP_AUTH_JWT_PUBLIC_KEY"]),
        (
            {"mcp_auth_jwt_public_key": None, "mcp_auth_jwt_issuer": None, "mcp_auth_jwt_audience": ""},
            ["MCP_AUTH_JWT_PUBLIC_KEY or MCP_AUTH_JWT_JWKS_URI", "MCP_AUTH_JWT_ISSUER", "MCP_AUTH_JWT_AUDIENCE"],
        ),
        ({"mcp_auth_provider": "simple_token"}, ["MCP_AUTH_TOKEN"]),
        ({"mcp_auth_provider": "simple_token", "mcp_auth_token": "two words"}, ["MCP_AUTH_TOKEN"]),
        ({"mcp_auth_provider": "simple_token", "mcp_auth_token": "schlüssel"}, ["MCP_AUTH_TOKEN"]),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_named(changes: dict[str, Any], faults: list[str]) -> None:
    with pytest.raises(StartRefused) as refused:
        create_verifier(settings_for(**GOOD | changes))
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == faults


async def test_any_audience_is_accepted_when_a_setting_says_so() -> None:
    """C20"""
    chosen = GOOD | {"mcp_auth_jwt_audience": "", "mcp_auth_jwt_allow_any_audience": True}
    verifier = create_verifier(settings_for(**chosen))
    assert verifier
    assert (await verifier.verify(token(aud="somebody else"))).principal == Principal("alice")


async def test_a_key_may_be_in_a_file_or_have_its_line_ends_written_out(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(pem(rsa_key()))
    for form in (str(tmp_path / "key.pem"), pem(rsa_key()).replace("\n", "\\n")):
        verifier = create_verifier(settings_for(**GOOD | {"mcp_auth_jwt_public_key": form}))
        assert verifier
        assert (await verifier.verify(token())).principal == Principal("alice")


def test_the_shared_token_is_never_shown() -> None:
    settings = settings_for(mcp_auth_provider="simple_token", mcp_auth_token="correct-horse")
    assert "correct-horse" not in repr(settings)
