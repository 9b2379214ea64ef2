"""An issuer of tokens for development and small teams: one key pair in a file, tokens made at the command line.

Whoever can read the file can be anybody, so only its owner may.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

ALGORITHM = "RS256"
JWKS_PATH = "/.well-known/jwks.json"
METADATA_PATHS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")

_PUBLIC_EXPONENT = 65537
_KEY_BITS = 2048
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class UnsafeKeyFile(Exception):
    """The file of keys cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """What a token shall say."""

    issuer: str
    audience: str
    subject: str
    groups: Sequence[str] = ()
    roles: Sequence[str] = ()
    scopes: Sequence[str] = ()
    lifetime: int = 3600


class Issuer:
    """Signs tokens with the key of a file, which is made on first use."""

    def __init__(self, path: Path) -> None:
        """Raises `UnsafeKeyFile`."""
        self._private = _load(path)
        self._key: RSAPrivateKey = _private_key(self._private, path)
        self._key_id = str(self._private.get("kid", ""))

    def issue(self, request: TokenRequest) -> str:
        """A signed token."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": request.issuer,
            "aud": request.audience,
            "sub": request.subject,
            "iat": now,
            "exp": now + request.lifetime,
        }
        lists = {"groups": list(request.groups), "roles": list(request.roles), "scope": " ".join(request.scopes)}
        claims |= {name: value for name, value in lists.items() if value}
        return jwt.encode(claims, self._key, ALGORITHM, headers={"kid": self._key_id, "typ": "at+jwt"})

    def key_set(self) -> dict[str, Any]:
        """The public key as a key set (RFC 7517)."""
        public = RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        kept = {name: public[name] for name in ("kty", "n", "e")}
        return {"keys": [kept | {"kid": self._key_id, "use": "sig", "alg": ALGORITHM}]}

    def public_key(self) -> str:
        """The public key in PEM form."""
        encoded = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return encoded.decode()


def _private_key(document: dict[str, Any], path: Path) -> RSAPrivateKey:
    try:
        key = RSAAlgorithm.from_jwk(document)
    except (jwt.InvalidKeyError, ValueError, TypeError, KeyError) as error:
        raise UnsafeKeyFile(f"{path} holds no key: {error}") from None
    if not isinstance(key, RSAPrivateKey):
        raise UnsafeKeyFile(f"{path} holds no private key")
    return key


def _load(path: Path) -> dict[str, Any]:
    if not path.exists():
        _create(path)
    try:
        with path.open(encoding="utf-8") as file:
            # of the open file, since the path could lead elsewhere a moment later
            _refuse_shared(os.fstat(file.fileno()), path)
            document = json.load(file)
    except (OSError, ValueError) as error:
        raise UnsafeKeyFile(f"{path} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise UnsafeKeyFile(f"{path} holds no key")
    return document


def _refuse_shared(status: os.stat_result, path: Path) -> None:
    if os.name == "posix" and (status.st_mode & _OTHERS or status.st_uid not in (os.geteuid(), 0)):
        raise UnsafeKeyFile(f"{path} must belong to you and be closed to everybody else (chmod 600)")


def _create(path: Path) -> None:
    """Make the file whole or not at all; of two that try at once, the first one's key stays."""
    key = generate_private_key(_PUBLIC_EXPONENT, _KEY_BITS)
    document = RSAAlgorithm.to_jwk(key, as_dict=True)
    document |= {"kid": os.urandom(8).hex()}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file)
        try:
            os.link(name, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(name)
    except OSError as error:
        raise UnsafeKeyFile(f"{path} cannot be created: {error}") from None
