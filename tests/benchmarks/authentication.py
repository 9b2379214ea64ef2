"""What authentication costs per request: CPU milliseconds of the server process.

    python -m tests.benchmarks.authentication [--rounds N] [--calls N]

First the check of a token alone, for each algorithm; then a whole call over HTTP with each provider, on SQLite.
Prints the median over the rounds; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.benchmarks.cost import Meter
from tests.e2e.processes import ServerProcess, call, client_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pgcontext.auth.keys import FixedKey
from pgcontext.auth.tokens import JwtVerifier, TokenRules
from support.issuer import AUDIENCE, ISSUER, ec_key, jwt_settings, pem, rsa_key, token

SHARED_TOKEN = "only-for-benchmarks"
KEYS = {"RS256": rsa_key(), "PS256": rsa_key(), "ES256": ec_key(), "EdDSA": Ed25519PrivateKey.generate()}
GROUPS = [f"group-{number}" for number in range(10)]


async def measure_checks(options: argparse.Namespace) -> None:
    """The cost of telling who sent a token."""
    for algorithm, key in KEYS.items():
        rules = TokenRules(ISSUER, (AUDIENCE,), algorithm, 30, "groups", "roles")
        verifier = JwtVerifier(rules, FixedKey(pem(key), algorithm))
        sent = token(key=key, algorithm=algorithm, groups=GROUPS)
        rounds = []
        for _ in range(options.rounds):
            begin = time.process_time()
            for _ in range(options.calls):
                await verifier.verify(sent)
            rounds.append((time.process_time() - begin) / options.calls)
        print(f"{'check of a token, ' + algorithm:<40} {statistics.median(rounds) * 1000:7.3f}")


async def measure_calls(
    provider: str, settings: Mapping[str, str], sent: str, options: argparse.Namespace
) -> None:
    """The cost of a call that reads nothing."""
    with tempfile.TemporaryDirectory(prefix="pgcontext-authentication-") as name:
        storage = {"STORAGE_BACKEND": "sqlite", "DB_PATH": f"{name}/pgcontext.db", "LOG_LEVEL": "WARNING"}
        with ServerProcess(storage | dict(settings), Path(name)) as server:
            meter = Meter(server, None)
            async with client_of(server.url, sent) as client:

                async def one_round() -> None:
                    for _ in range(options.calls):
                        await call(client, "list_threads")

                await one_round()
                costs = [(await meter.cost(one_round, options.calls)).server for _ in range(options.rounds)]
    print(f"{'list_threads over HTTP, ' + provider:<40} {statistics.median(costs):7.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds of authentication")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=300, help="per round")
    options = parser.parse_args()
    asyncio.run(measure_checks(options))
    providers = {
        "none": ({}, "not-looked-at"),
        "simple_token": ({"MCP_AUTH_PROVIDER": "simple_token", "MCP_AUTH_TOKEN": SHARED_TOKEN}, SHARED_TOKEN),
        "jwt": (jwt_settings(), token(groups=GROUPS)),
    }
    for provider, (settings, sent) in providers.items():
        asyncio.run(measure_calls(provider, settings, sent, options))


if __name__ == "__main__":
    main()
