"""Tokens that prove nothing, by what is wrong with them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from support.issuer import (
    claims,
    confused_token,
    ec_key,
    encoded,
    jwk,
    key_set,
    pem,
    raw_token,
    rsa_key,
    token,
    unsigned_token,
)

NOW = int(time.time())
HOUR = 3600


def _without_signature() -> str:
    return token().rpartition(".")[0] + "."


def _with_other_claims() -> str:
    header, _, signature = token().split(".")
    return f"{header}.{encoded(json.dumps(claims('root')).encode())}.{signature}"


def _with_trailing_bits() -> str:
    """The last character of a signature carries bits that stand for nothing."""
    good = token()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return good[:-1] + alphabet[alphabet.index(good[-1]) ^ 1]


def _deep(opening: bytes) -> bytes:
    return opening * 5000


HOSTILE: dict[str, Callable[[], str]] = {
    # signatures
    "alg none": unsigned_token,
    "alg None": lambda: unsigned_token("None"),
    "alg RS256 without a signature": lambda: unsigned_token("RS256"),
    "signature cut off": _without_signature,
    "claims of another": _with_other_claims,
    "signature spelt otherwise": _with_trailing_bits,
    "wrong key": lambda: token(key=rsa_key(1)),
    "wrong key with its own key in the header": lambda: token(
        key=rsa_key(1),
        header={"jwk": jwk(rsa_key(1)), "jku": "https://evil.example/keys", "x5c": [pem(rsa_key(1))]},
    ),
    "HS256 with the public key": lambda: confused_token(pem(rsa_key()).encode()),
    "HS256 with the public key, one line end less": lambda: confused_token(pem(rsa_key()).strip().encode()),
    "HS256 with the key set": lambda: confused_token(key_set(jwk(rsa_key()))),
    "HS256 with nothing": lambda: confused_token(b""),
    "ES256": lambda: token(key=ec_key(), algorithm="ES256"),
    "RS512 with the right key": lambda: token(algorithm="RS512"),
    "PS256 with the right key": lambda: token(algorithm="PS256"),
    # whom and when it is for
    "another issuer": lambda: token(iss="https://other.example.org"),
    "issuer with a slash": lambda: token(iss="https://issuer.example.org/"),
    "no issuer": lambda: token(iss=None),
    "issuers": lambda: token(iss=["https://issuer.example.org"]),
    "another audience": lambda: token(aud="https://other.example.org/mcp"),
    "audience that begins alike": lambda: token(aud="https://memory.example.org/mcp/other"),
    "other audiences": lambda: token(aud=["a", "b"]),
    "no audience": lambda: token(aud=None),
    "audience as an object": lambda: token(aud={"https://memory.example.org/mcp": True}),
    "expired": lambda: token(exp=NOW - HOUR),
    "no exp": lambda: token(exp=None),
    "exp null": lambda: raw_token(claims() | {"exp": None}),
    "exp as text": lambda: token(exp=str(NOW + HOUR)),
    "exp true": lambda: token(exp=True),
    "exp a list": lambda: token(exp=[NOW + HOUR]),
    "exp infinite": lambda: raw_token(json.dumps(claims(exp=0)).replace('"exp": 0', '"exp": 1e999').encode()),
    "exp not a number": lambda: raw_token(json.dumps(claims(exp=0)).replace('"exp": 0', '"exp": NaN').encode()),
    "exp with 5000 digits": lambda: raw_token(
        json.dumps(claims(exp=0)).replace('"exp": 0', '"exp": ' + "9" * 5000).encode()
    ),
    "not yet valid": lambda: token(nbf=NOW + HOUR),
    "nbf as text": lambda: token(nbf="0"),
    "issued in the future": lambda: token(iat=NOW + HOUR),
    # who it is
    "no subject": lambda: token(sub=None),
    "subject null": lambda: raw_token(claims() | {"sub": None}),
    "subject a number": lambda: token(sub=7),
    "subject a list": lambda: token(sub=["alice"]),
    "subject an object": lambda: token(sub={"id": "alice"}),
    "subject empty": lambda: token(sub=""),
    "subject blank": lambda: token(sub="   "),
    "subject with space around it": lambda: token(sub=" alice"),
    "subject with a line end": lambda: token(sub="alice\n"),
    "subject with NUL": lambda: token(sub="alice\x00"),
    "subject with a lone surrogate": lambda: token(sub="alice\ud800"),
    "subject of 257 characters": lambda: token(sub="a" * 257),
    "groups an object": lambda: token(groups={"team": True}),
    "groups a number": lambda: token(groups=1),
    "groups with a number": lambda: token(groups=["team", 1]),
    "groups with null": lambda: token(groups=["team", None]),
    "groups with a list": lambda: token(groups=[["team"]]),
    "group empty": lambda: token(groups=[""]),
    "group with NUL": lambda: token(groups=["te\x00am"]),
    "group of 257 characters": lambda: token(groups=["g" * 257]),
    "501 groups": lambda: token(groups=[str(number) for number in range(501)]),
    "roles an object": lambda: token(roles={"publisher": True}),
    "501 roles": lambda: token(roles=[str(number) for number in range(501)]),
    # what it is
    "logout token": lambda: token(header={"typ": "logout+jwt"}),
    "type a number": lambda: token(header={"typ": 1}),
    "key id a number": lambda: token(header={"kid": 1}),
    "critical extension that nobody knows": lambda: token(header={"crit": ["x"], "x": 1}),
    "payload not encoded": lambda: token(header={"b64": False, "crit": ["b64"]}),
    "claims a list": lambda: raw_token([claims()]),
    "claims a text": lambda: raw_token("alice"),
    "claims null": lambda: raw_token(None),
    "claims not JSON": lambda: raw_token(b"{"),
    "claims not UTF-8": lambda: raw_token(b"\xff\xfe"),
    "claims nested too deep": lambda: raw_token(_deep(b"[")),
    "header nested too deep": lambda: f"{encoded(_deep(b'['))}.e30.e30",
    "too long": lambda: token(padding="x" * 14_000),
    "many claims": lambda: token(**{f"claim{number}": number for number in range(1000)}),
    "not a token": lambda: "secret",
    "two parts": lambda: "e30.e30",
    "five parts": lambda: "e30.e30.e30.e30.e30",
    "dots": lambda: "..",
    "one dot": lambda: ".",
    "signed twice": lambda: f"{token()}.{token()}",
    "twice": lambda: f"{token()} {token()}",
    "twice with a comma": lambda: f"{token()},{token()}",
    "percent": lambda: "%00%ff",
}
