"""What a token proves, and the ways of finding out."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal, Protocol

from pgcontext.principal import Principal

RefusalReason = Literal["missing", "malformed", "unknown_key", "bad_signature", "expired", "wrong_claims"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: whom it runs as, the name of the client for the log, and what the token allows."""

    principal: Principal
    client_id: str
    scopes: frozenset[str] = frozenset()


class TokenRefused(Exception):
    """A token proves nothing here; `reason` says why in general, `str()` in particular, without the token."""

    def __init__(self, reason: RefusalReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: RefusalReason = reason


class KeysUnavailable(Exception):
    """The issuer's keys cannot be had at the moment, so that no token can be judged."""


class Verifier(Protocol):
    """Tells who sent a token."""

    async def verify(self, token: str) -> Caller:
        """The caller; raises `TokenRefused` or `KeysUnavailable`."""


class SharedTokenVerifier:
    """One token for everybody, who all are one principal."""

    def __init__(self, token: str, principal: Principal, client_id: str) -> None:
        self._digest = _digest(token)
        self._caller = Caller(principal, client_id)

    async def verify(self, token: str) -> Caller:
        # digests have one length, so the time tells neither how long the token is nor how much of it is right
        if not hmac.compare_digest(_digest(token), self._digest):
            raise TokenRefused("bad_signature", "the token is not the one expected")
        return self._caller


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
