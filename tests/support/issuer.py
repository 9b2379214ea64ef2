"""An issuer of tokens for tests: good ones, and every kind of bad one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example.org"
AUDIENCE = "https://memory.example.org/mcp"


@cache
def rsa_key(number: int = 0, bits: int = 2048) -> rsa.RSAPrivateKey:
    """One of several keys, the same for the whole run."""
    return rsa.generate_private_key(65537, bits)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    """A key on P-256."""
    return ec.generate_private_key(ec.SECP256R1())


def pem(key: Any) -> str:
    """The public half in PEM form."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def jwk(key: Any, **members: Any) -> dict[str, Any]:
    """The public half as a member of a key set."""
    algorithm = ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else RSAAlgorithm
    return algorithm.to_jwk(key.public_key(), as_dict=True) | {"use": "sig"} | members


def key_set(*keys: dict[str, Any]) -> bytes:
    """A key set document."""
    return json.dumps({"keys": keys}).encode()


def claims(subject: str = "alice", **others: Any) -> dict[str, Any]:
    """The claims of a good token; None leaves a claim out."""
    now = int(time.time())
    all_claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 600} | others
    return {name: value for name, value in all_claims.items() if value is not None}


def token(
    subject: str = "alice",
    *,
    key: Any = None,
    algorithm: str = "RS256",
    header: Mapping[str, Any] | None = None,
    **others: Any,
) -> str:
    """A signed token."""
    return raw_token(claims(subject, **others), key=key, algorithm=algorithm, header=header)


def raw_token(
    payload: Any, *, key: Any = None, algorithm: str = "RS256", header: Mapping[str, Any] | None = None
) -> str:
    """A token of any claims, of any type, signed as the algorithm says; also of kinds that no library makes."""
    signer = jwt.get_algorithm_by_name(algorithm)
    head = {"typ": "JWT", "alg": algorithm} | dict(header or {})
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    signing_input = f"{encoded(json.dumps(head).encode())}.{encoded(body)}"
    signature = signer.sign(signing_input.encode(), signer.prepare_key(key or rsa_key()))
    return f"{signing_input}.{encoded(signature)}"


def confused_token(secret: bytes, **others: Any) -> str:
    """A token whose HS256 signature was made with something public."""
    header = encoded(json.dumps({"typ": "JWT", "alg": "HS256"}).encode())
    signing_input = f"{header}.{encoded(json.dumps(claims(**others)).encode())}"
    return f"{signing_input}.{encoded(hmac.digest(secret, signing_input.encode(), hashlib.sha256))}"


def unsigned_token(algorithm: str = "none", **others: Any) -> str:
    """A token without a signature."""
    header = encoded(json.dumps({"typ": "JWT", "alg": algorithm}).encode())
    return f"{header}.{encoded(json.dumps(claims(**others)).encode())}."


def encoded(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt_settings(**others: str) -> dict[str, str]:
    """The environment of a server that takes these tokens."""
    return {
        "MCP_AUTH_PROVIDER": "jwt",
        "MCP_AUTH_JWT_PUBLIC_KEY": pem(rsa_key()),
        "MCP_AUTH_JWT_ISSUER": ISSUER,
        "MCP_AUTH_JWT_AUDIENCE": AUDIENCE,
    } | others


class KeyServer:
    """Publishes a key set at `url`; counts who asks for it."""

    def __init__(self, document: bytes) -> None:
        self.document = document
        self.status = 200
        self.location: str | None = None
        self.asked = 0
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked += 1
                self.send_response(owner.status)
                if owner.location:
                    self.send_header("Location", owner.location)
                self.send_header("Content-Length", str(len(owner.document)))
                self.end_headers()
                self.wfile.write(owner.document)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/keys.json"

    @contextmanager
    def running(self) -> Iterator[KeyServer]:
        thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()
