"""Which tokens are believed, and what they say."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.hostile import HOSTILE, NOW
from pgcontext.auth.claims import find_claim, names_in
from pgcontext.auth.keys import FixedKey
from pgcontext.auth.tokens import JwtVerifier, TokenRules
from pgcontext.auth.verifier import SharedTokenVerifier, TokenRefused
from pgcontext.principal import Principal
from support.issuer import AUDIENCE, ISSUER, ec_key, pem, rsa_key, token


def verifier(**rules: Any) -> JwtVerifier:
    algorithm = rules.get("algorithm", "RS256")
    values = {
        "issuer": ISSUER,
        "audience": (AUDIENCE,),
        "algorithm": "RS256",
        "leeway": 30,
        "groups_claim": "groups",
        "roles_claim": "roles",
    } | rules
    key = ec_key() if algorithm == "ES256" else rsa_key()
    return JwtVerifier(TokenRules(**values), FixedKey(pem(key), algorithm))


async def principal(sent: str, **rules: Any) -> Principal:
    return (await verifier(**rules).verify(sent)).principal


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_token_is_refused(kind: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        await verifier().verify(HOSTILE[kind]())
    assert "alice" not in str(refused.value)


async def test_a_good_token_names_the_principal_its_groups_and_roles() -> None:
    sent = token("alice", groups=["team", "ops", "team"], roles="publisher", scope="read write", azp="agent-7")
    caller = await verifier().verify(sent)
    assert caller.principal == Principal("alice", ("team", "ops"), ("publisher",))
    assert (caller.client_id, caller.scopes) == ("agent-7", {"read", "write"})


@pytest.mark.parametrize("client", ["x" * 5000, "\ud800", 7, None, ["a"]])
async def test_the_name_of_the_client_is_for_the_log_and_fit_for_it(client: Any) -> None:
    name = (await verifier().verify(token(azp=client))).client_id
    assert len(name.encode()) < 120


@pytest.mark.parametrize(
    "subject",
    ["*", "owner:bob", "user:bob", "group:team", "Alice", "ａｌｉｃｅ", "a b", "a'; --", "é", "🥊", "a" * 256],
)
async def test_any_subject_is_taken_exactly_as_it_is(subject: str) -> None:
    assert await principal(token(subject)) == Principal(subject)


async def test_small_differences_between_clocks_are_forgiven_and_no_more() -> None:
    now = int(time.time())
    for times in ({"exp": now - 20}, {"nbf": now + 20}, {"iat": now + 20}):
        assert await principal(token(**times)) == Principal("alice")
        with pytest.raises(TokenRefused):
            await principal(token(**times), leeway=0)


async def test_a_token_for_one_of_several_audiences_is_meant_for_this_server() -> None:
    assert await principal(token(aud=["other", AUDIENCE])) == Principal("alice")
    assert await principal(token(aud="b"), audience=("a", "b")) == Principal("alice")
    assert await principal(token(aud="anything"), audience=()) == Principal("alice")
    assert await principal(token(aud=None), audience=()) == Principal("alice")


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "application/at+jwt", None])
async def test_access_tokens_are_known_by_their_type_or_have_none(kind: str | None) -> None:
    assert await principal(token(header={"typ": kind})) == Principal("alice")


async def test_another_algorithm_takes_tokens_of_that_algorithm_alone() -> None:
    assert await principal(token(key=ec_key(), algorithm="ES256"), algorithm="ES256") == Principal("alice")
    with pytest.raises(TokenRefused):
        await principal(token(), algorithm="ES256")


@pytest.mark.parametrize(
    "key, algorithm",
    [
        (pem(rsa_key()), "ES256"),
        (pem(ec_key()), "RS256"),
        (pem(ec_key()), "ES384"),
        (pem(rsa_key(bits=1024)), "RS256"),
        ("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n", "RS256"),
    ],
    ids=["RSA for ES256", "EC for RS256", "P-256 for ES384", "1024 bits", "cut off"],
)
def test_a_key_that_does_not_fit_the_algorithm_is_refused_at_the_start(key: str, algorithm: str) -> None:
    with pytest.raises(ValueError, match="is not a public key in PEM form for"):
        FixedKey(key, algorithm)


@pytest.mark.parametrize(
    "claims, path, found",
    [
        ({"groups": ["a"]}, "groups", ["a"]),
        ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", ["a"]),
        ({"https://example.org/groups": ["a"]}, "https://example.org/groups", ["a"]),
        ({"https://example.org/app": {"groups": ["a"]}}, "https://example.org/app.groups", ["a"]),
        ({"resource_access": {"my.app": {"roles": "a"}}}, "resource_access.my.app.roles", "a"),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", 1),
        ({"a": {"b": 2}}, "a.c", None),
        ({"a": "text"}, "a.b", None),
        ({"a": ["b"]}, "a.0", None),
        ({}, "a", None),
    ],
)
def test_a_claim_is_found_by_its_whole_name_or_along_a_dotted_path(
    claims: dict[str, Any], path: str, found: Any
) -> None:
    assert find_claim(claims, path) == found


async def test_groups_and_roles_come_from_the_claims_that_the_settings_name() -> None:
    sent = token(
        realm_access={"roles": ["publisher"]}, **{"https://example.org/groups": "team", "groups": ["fake"]}
    )
    rules = {"groups_claim": "https://example.org/groups", "roles_claim": "realm_access.roles"}
    assert await principal(sent, **rules) == Principal("alice", ("team",), ("publisher",))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(scalars | st.lists(st.text()) | st.lists(scalars | st.lists(scalars)) | st.dictionaries(st.text(), scalars))
def test_whatever_a_claim_holds_it_gives_names_or_a_refusal(value: Any) -> None:
    try:
        names = names_in({"groups": value}, "groups")
    except TokenRefused:
        return
    assert set(names) == set([value] if isinstance(value, str) else value or ())
    assert all(name == name.strip() and 0 < len(name) <= 256 and "\x00" not in name for name in names)


async def test_the_shared_token_makes_everybody_the_default_principal() -> None:
    shared = SharedTokenVerifier("correct horse", Principal("local"), "agent")
    assert (await shared.verify("correct horse")).principal == Principal("local")
    for wrong in ("", "correct hors", "correct horse ", "Correct horse", "é" * 100, "\ud800"):
        with pytest.raises(TokenRefused):
            await shared.verify(wrong)


def test_the_hostile_tokens_are_hostile_now() -> None:
    """Those that are about time were made for the hour of this run."""
    assert abs(NOW - time.time()) < 1800
