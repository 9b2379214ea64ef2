"""Signed tokens (JWT, RFC 7519), each from one issuer, for one audience, with one algorithm."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from jwt.exceptions import DecodeError, ExpiredSignatureError, InvalidAlgorithmError, InvalidSignatureError

from pgcontext.auth.claims import principal_of, scopes_in
from pgcontext.auth.keys import KeySource
from pgcontext.auth.verifier import Caller, RefusalReason, TokenRefused
from pgcontext.text.characters import shown

MAX_TOKEN_LENGTH = 16 * 1024
"""In characters; a longer token is refused unread."""

_TYPES = ("jwt", "at+jwt")
_TIMES = ("exp", "nbf", "iat")


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must be like; an empty `audience` accepts any."""

    issuer: str
    audience: Sequence[str]
    algorithm: str
    leeway: int
    groups_claim: str
    roles_claim: str


class JwtVerifier:
    """Verifies signed tokens."""

    def __init__(self, rules: TokenRules, keys: KeySource) -> None:
        self._rules = rules
        self._keys = keys

    async def verify(self, token: str) -> Caller:
        if len(token) > MAX_TOKEN_LENGTH:
            raise TokenRefused("malformed", "the token is too long")
        key = await self._keys.find(self._key_id(token))
        claims = self._claims(token, key)
        client = claims.get("azp", claims.get("client_id"))
        principal = principal_of(claims, self._rules.groups_claim, self._rules.roles_claim)
        return Caller(principal, shown(client) if isinstance(client, str) else "", scopes_in(claims))

    def _key_id(self, token: str) -> str | None:
        """The key id that a token names; one with another algorithm is refused before a key is looked for."""
        header = _unverified_header(token)
        if header.get("alg") != self._rules.algorithm:
            raise TokenRefused("bad_signature", f"the token is not signed with {self._rules.algorithm}")
        key_id = header.get("kid")
        if key_id is not None and not isinstance(key_id, str):
            raise TokenRefused("malformed", "the token's key id is not a string")
        return key_id

    def _claims(self, token: str, key: Any) -> dict[str, Any]:
        rules = self._rules
        try:
            decoded = jwt.decode_complete(
                token,
                key,
                algorithms=[rules.algorithm],
                issuer=rules.issuer,
                audience=list(rules.audience) or None,
                leeway=rules.leeway,
                options={"require": ["exp", "iss", "sub"], "verify_aud": bool(rules.audience)},
            )
        # whatever a token brings about, such as a time that is infinite, it is refused
        except Exception as error:
            raise TokenRefused(_reason(error), f"the token does not verify: {type(error).__name__}") from error
        if not _is_access_token(decoded["header"].get("typ")):
            raise TokenRefused("wrong_claims", "the token is of another type")
        claims: dict[str, Any] = decoded["payload"]
        for name in _TIMES:
            if name in claims and not _is_time(claims[name]):
                raise TokenRefused("wrong_claims", f"the claim '{name}' is not a time")
        return claims


def _unverified_header(token: str) -> dict[str, Any]:
    """The header, read leniently: it only decides which key is tried, and is read again with that key."""
    segment, _, _ = token.partition(".")
    try:
        header = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise TokenRefused("malformed", "the token is not a signed JWT")
    return header


def _is_access_token(kind: Any) -> bool:
    """Whether a `typ` header does not say that the token is for something else, such as a logout (RFC 8725)."""
    return kind is None or (isinstance(kind, str) and kind.lower().removeprefix("application/") in _TYPES)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _reason(error: Exception) -> RefusalReason:
    if isinstance(error, ExpiredSignatureError):
        return "expired"
    if isinstance(error, InvalidSignatureError | InvalidAlgorithmError):
        return "bad_signature"
    return "malformed" if isinstance(error, DecodeError) else "wrong_claims"
