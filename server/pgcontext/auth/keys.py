"""The issuer's public keys: one that the operator gave, or a set that the issuer publishes (RFC 7517)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio
import httpx2
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt.algorithms import Algorithm, get_default_algorithms
from jwt.exceptions import PyJWTError

from pgcontext.auth.verifier import KeysUnavailable, TokenRefused

logger = logging.getLogger(__name__)

REFETCH_SECONDS = 60.0
"""An unknown key id asks the issuer again, but not more often than this."""
RETRY_SECONDS = 5.0
"""How soon an issuer that gave no keys at all is asked again."""
REFRESH_SECONDS = 300.0
"""Keys older than this are fetched anew, so that a key that the issuer withdrew is forgotten."""
STALE_SECONDS = 3600.0
"""Keys older than this are not believed any more, if the issuer cannot be reached."""
FETCH_SECONDS = 5.0
MAX_DOCUMENT_BYTES = 256 * 1024
MAX_KEYS = 100

_KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}

Fetch = Callable[[], Awaitable[bytes]]


class KeySource(Protocol):
    """Finds the key that a token says it was signed with."""

    @property
    def generation(self) -> int:
        """Changes whenever a key may have been withdrawn."""

    async def find(self, key_id: str | None) -> Any:
        """A public key that fits the algorithm; raises `TokenRefused` or `KeysUnavailable`."""


class FixedKey:
    """The one key that the operator gave."""

    generation = 0

    def __init__(self, pem: str, algorithm: str) -> None:
        """Raises ValueError when the text is no public key, or none for the algorithm."""
        try:
            self._key = _fitting(load_pem_public_key(pem.encode()), algorithm)
        except (ValueError, TypeError, PyJWTError) as error:
            raise ValueError(f"is not a public key in PEM form for {algorithm}: {error}") from None

    async def find(self, key_id: str | None) -> Any:
        return self._key


class PublishedKeys:
    """The keys at an address, kept and fetched again as the constants of this module say.

    Whoever needs no fetch never waits for one; a fetch takes bounded time and space.
    """

    def __init__(self, fetch: Fetch, algorithm: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._algorithm = algorithm
        self._clock = clock
        self._turn = anyio.Lock()
        self._keys: dict[str | None, Any] = {}
        self._fetched_at: float | None = None
        self._asked_at: float | None = None
        self.generation = 0

    async def find(self, key_id: str | None) -> Any:
        has_nothing_to_go_by = self._age() > STALE_SECONDS or self._lookup(key_id) is None
        if has_nothing_to_go_by or (self._age() > REFRESH_SECONDS and not self._turn.locked()):
            await self._refresh()
        if self._age() > STALE_SECONDS:
            raise KeysUnavailable("the issuer's keys cannot be fetched")
        key = self._lookup(key_id)
        if key is None:
            raise TokenRefused("unknown_key", "no key of the issuer has the token's key id")
        return key

    def _lookup(self, key_id: str | None) -> Any:
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id)

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else self._clock() - self._fetched_at

    async def _refresh(self) -> None:
        """Fetch the keys, or wait for the fetch that is under way; nothing when the last one was just now."""
        is_under_way = self._turn.locked()
        async with self._turn:
            if is_under_way or self._is_too_soon():
                return
            self._asked_at = self._clock()
            # whoever asked may go away meanwhile, and the others must not have to wait out the pause for nothing
            with anyio.CancelScope(shield=True):
                try:
                    with anyio.fail_after(FETCH_SECONDS):
                        document = await self._fetch()
                    self._keys = usable_keys(document, self._algorithm)
                except Exception as error:
                    logger.warning("the issuer's keys cannot be fetched: %s", str(error) or type(error).__name__)
                    return
            self._fetched_at = self._clock()
            self.generation += 1

    def _is_too_soon(self) -> bool:
        pause = RETRY_SECONDS if self._fetched_at is None else REFETCH_SECONDS
        return self._asked_at is not None and self._clock() - self._asked_at < pause


def usable_keys(document: bytes, algorithm: str) -> dict[str | None, Any]:
    """The keys of a set that can verify the algorithm, by key id; others are passed over.

    Raises ValueError when the document is no key set.
    """
    key_set = json.loads(document)
    entries = key_set.get("keys") if isinstance(key_set, dict) else None
    if not isinstance(entries, list) or len(entries) > MAX_KEYS:
        raise ValueError(f"not a key set of at most {MAX_KEYS} keys")
    keys: dict[str | None, Any] = {}
    for entry in entries:
        if isinstance(entry, dict) and _is_meant_for(entry, algorithm):
            try:
                keys.setdefault(_key_id(entry), _fitting(_implementation(algorithm).from_jwk(entry), algorithm))
            except (PyJWTError, ValueError, TypeError, KeyError) as error:
                logger.warning("a key of the issuer is passed over: %s", type(error).__name__)
    return keys


def _is_meant_for(entry: dict[str, Any], algorithm: str) -> bool:
    return (
        entry.get("kty") == _KEY_TYPES[algorithm[:2]]
        and entry.get("use", "sig") == "sig"
        and entry.get("alg", algorithm) == algorithm
        and "d" not in entry
    )


def _key_id(entry: dict[str, Any]) -> str | None:
    key_id = entry.get("kid")
    if key_id is not None and not isinstance(key_id, str):
        raise TypeError("a key id is a string")
    return key_id


def _fitting(key: Any, algorithm: str) -> Any:
    """The key itself; an exception when its type, curve or length is not that of the algorithm."""
    implementation = _implementation(algorithm)
    prepared = implementation.prepare_key(key)
    if weakness := implementation.check_key_length(prepared):
        raise ValueError(weakness)
    return prepared


def _implementation(algorithm: str) -> Algorithm:
    return get_default_algorithms()[algorithm]


def fetch_from(address: str) -> Fetch:
    """Fetches a document from this very address, and no more of it than `MAX_DOCUMENT_BYTES`."""
    context = httpx2.create_ssl_context()
    headers = {"Accept": "application/jwk-set+json, application/json", "Accept-Encoding": "identity"}

    # a proxy that the environment names could answer in the place of this machine, but not of an https server
    may_use_proxy = address.startswith("https:")

    async def fetch() -> bytes:
        document = bytearray()
        async with (
            httpx2.AsyncClient(verify=context, timeout=FETCH_SECONDS, trust_env=may_use_proxy) as client,
            client.stream("GET", address, headers=headers) as response,
        ):
            if response.status_code != httpx2.codes.OK:
                raise ValueError(f"{address} answers with status {response.status_code}")
            async for part in response.aiter_raw():
                document += part
                if len(document) > MAX_DOCUMENT_BYTES:
                    raise ValueError(f"{address} answers with more than {MAX_DOCUMENT_BYTES} bytes")
        return bytes(document)

    return fetch
