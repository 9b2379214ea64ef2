"""The keys that an issuer publishes: when they are fetched, and which of them are believed."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from pgcontext.auth import keys as module
from pgcontext.auth.keys import PublishedKeys, fetch_from, usable_keys
from pgcontext.auth.verifier import KeysUnavailable, TokenRefused
from support.issuer import KeyServer, ec_key, jwk, key_set, rsa_key

FIRST = jwk(rsa_key(), kid="first")
SECOND = jwk(rsa_key(1), kid="second")


class Publisher:
    """An issuer and a clock, both in the hands of the test."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        self.document = key_set(*keys)
        self.failure: Exception | None = None
        self.now = 1000.0
        self.asked = 0
        self.answer = anyio.Event()
        self.answer.set()
        self.keys = PublishedKeys(self.fetch, "RS256", lambda: self.now)

    async def fetch(self) -> bytes:
        self.asked += 1
        await self.answer.wait()
        if self.failure:
            raise self.failure
        return self.document

    async def outcome(self, key_id: str | None) -> str:
        try:
            await self.keys.find(key_id)
        except TokenRefused as refused:
            return refused.reason
        except KeysUnavailable:
            return "unavailable"
        return "found"


async def test_keys_are_fetched_once_and_kept() -> None:
    issuer = Publisher(FIRST, SECOND)
    assert [await issuer.outcome(name) for name in ("first", "second", "first")] == ["found"] * 3
    assert issuer.asked == 1


async def test_an_unknown_key_asks_the_issuer_again_but_not_twice_a_minute() -> None:
    issuer = Publisher(FIRST)
    assert await issuer.outcome("first") == "found"
    issuer.now += 61
    for _ in range(50):
        assert await issuer.outcome("made up") == "unknown_key"
    assert issuer.asked == 2
    issuer.now += 59
    assert await issuer.outcome("made up as well") == "unknown_key"
    assert issuer.asked == 2
    issuer.now += 2
    await issuer.outcome("made up")
    assert issuer.asked == 3


async def test_a_new_key_is_believed_within_a_minute_and_a_withdrawn_one_forgotten() -> None:
    issuer = Publisher(FIRST)
    await issuer.outcome("first")
    issuer.document = key_set(SECOND)
    before = issuer.keys.generation
    issuer.now += 61
    assert await issuer.outcome("second") == "found"
    assert await issuer.outcome("first") == "unknown_key"
    assert issuer.keys.generation > before


async def test_a_withdrawn_key_is_forgotten_even_if_nobody_uses_the_new_one() -> None:
    issuer = Publisher(FIRST)
    await issuer.outcome("first")
    issuer.document = key_set(SECOND)
    issuer.now += module.REFRESH_SECONDS + 1
    assert await issuer.outcome("first") == "unknown_key"


async def test_an_issuer_that_cannot_be_reached_is_believed_for_an_hour_and_then_not() -> None:
    issuer = Publisher(FIRST)
    await issuer.outcome("first")
    issuer.failure = OSError("no route")
    for _ in range(5):
        issuer.now += 600
        assert await issuer.outcome("first") == "found"
    issuer.now += 601
    assert await issuer.outcome("first") == "unavailable"
    issuer.failure = None
    issuer.now += 61
    assert await issuer.outcome("first") == "found"


async def test_an_issuer_that_never_answered_is_asked_again_soon() -> None:
    issuer = Publisher(FIRST)
    issuer.failure = OSError("not up yet")
    assert await issuer.outcome("first") == "unavailable"
    assert await issuer.outcome("first") == "unavailable"
    assert issuer.asked == 1
    issuer.failure = None
    issuer.now += 6
    assert await issuer.outcome("first") == "found"


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"keys": {}}',
        b"\xff",
        b"[" * 100_000,
        json.dumps({"keys": [FIRST] * 101}).encode(),
    ],
    ids=lambda document: repr(document[:12]),
)
async def test_a_document_that_is_no_key_set_changes_nothing(document: bytes) -> None:
    issuer = Publisher(FIRST)
    await issuer.outcome("first")
    issuer.document = document
    issuer.now += 301
    assert await issuer.outcome("first") == "found"
    assert issuer.asked == 2


async def test_many_at_once_wait_for_one_fetch() -> None:
    issuer = Publisher(FIRST)
    issuer.answer = anyio.Event()
    outcomes: list[str] = []

    async def ask() -> None:
        outcomes.append(await issuer.outcome("first"))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        issuer.answer.set()
    assert outcomes == ["found"] * 20
    assert issuer.asked == 1


async def test_who_has_a_known_key_does_not_wait_for_a_fetch() -> None:
    issuer = Publisher(FIRST)
    await issuer.outcome("first")
    issuer.now += 301
    issuer.answer = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(issuer.outcome, "made up")
        await anyio.wait_all_tasks_blocked()
        assert issuer.asked == 2
        assert await issuer.outcome("first") == "found"
        issuer.answer.set()


async def test_somebody_who_leaves_during_a_fetch_does_not_spoil_it_for_the_others() -> None:
    issuer = Publisher(FIRST)
    await issuer.outcome("first")
    issuer.document = key_set(FIRST, SECOND)
    issuer.now += 61
    issuer.answer = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(issuer.outcome, "made up")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
        issuer.answer.set()
    assert await issuer.outcome("second") == "found"
    assert issuer.asked == 2


async def test_a_fetch_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FETCH_SECONDS", 0.01)
    issuer = Publisher(FIRST)
    issuer.answer = anyio.Event()
    assert await issuer.outcome("first") == "unavailable"


async def test_a_token_without_a_key_id_is_tried_with_an_only_key() -> None:
    assert await Publisher(FIRST).outcome(None) == "found"
    assert await Publisher(jwk(rsa_key())).outcome(None) == "found"
    assert await Publisher(FIRST, SECOND).outcome(None) == "unknown_key"


@pytest.mark.parametrize(
    "entry",
    [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "x", "alg": "HS256"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "x", "alg": "RS256"},
        jwk(ec_key(), kid="x"),
        jwk(rsa_key(), kid="x", alg="RS512"),
        jwk(rsa_key(), kid="x", use="enc"),
        jwk(rsa_key(bits=1024), kid="x"),
        jwk(rsa_key(), kid=7),
        jwk(rsa_key(), kid="x", n=5),
        jwk(rsa_key(), kid="x", n="!"),
        {"kty": "RSA", "kid": "x"},
        {"kid": "x"},
        {"kty": ["RSA"]},
        "key",
        None,
    ],
    ids=str,
)
def test_a_key_that_is_not_for_this_is_passed_over(entry: Any) -> None:
    assert list(usable_keys(key_set(entry, FIRST), "RS256")) == ["first"]


def test_of_two_keys_with_one_id_the_first_counts() -> None:
    found = usable_keys(key_set(FIRST, jwk(rsa_key(1), kid="first")), "RS256")
    assert found["first"].public_numbers() == rsa_key().public_key().public_numbers()


@pytest.fixture
def server() -> Iterator[KeyServer]:
    with KeyServer(key_set(FIRST)).running() as server:
        yield server


async def test_keys_come_from_the_address(server: KeyServer) -> None:
    assert await fetch_from(server.url)() == server.document


async def test_a_document_that_does_not_end_is_not_read_to_its_end(server: KeyServer) -> None:
    server.document = b" " * (module.MAX_DOCUMENT_BYTES + 1)
    with pytest.raises(ValueError, match="more than"):
        await fetch_from(server.url)()


async def test_a_redirection_is_not_followed(server: KeyServer) -> None:
    server.status, server.location = 302, "http://169.254.169.254/latest"
    with pytest.raises(ValueError, match="status 302"):
        await fetch_from(server.url)()


async def test_no_proxy_answers_in_the_place_of_this_machine(
    server: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with KeyServer(key_set(SECOND)).running() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert await fetch_from(server.url)() == server.document
    assert proxy.asked == 0


async def test_an_address_where_nobody_listens_is_an_issuer_that_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    keys = PublishedKeys(fetch_from(f"http://127.0.0.1:{port}/keys"), "RS256", time.monotonic)
    with pytest.raises(KeysUnavailable):
        await keys.find("first")
