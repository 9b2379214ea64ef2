"""The benchmarks still run; what they print is for people to read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.postgres import PostgresServer

ROOT = Path(__file__).resolve().parents[2]


def run(module: str, *arguments: str, **variables: str) -> str:
    """What a benchmark prints."""
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_cost_per_call(postgres: PostgresServer) -> None:
    small = ("--entries", "60", "--threads", "7", "--rounds", "2", "--calls", "2")
    printed = run("cost", *small, PGCONTEXT_TEST_DSN=postgres.dsn)
    for backend in ("sqlite", "postgresql"):
        assert sum(line.startswith(backend) for line in printed.splitlines()) == 5


@pytest.mark.slow
def test_cost_of_sync_planning(postgres: PostgresServer) -> None:
    printed = run("sync", "--documents", "1200", "--calls", "2", PGCONTEXT_TEST_DSN=postgres.dsn)
    for backend in ("sqlite", "postgresql"):
        assert sum(line.startswith(backend) for line in printed.splitlines()) == 4


def test_cost_of_row_level_security(postgres: PostgresServer) -> None:
    small = ("--entries", "30", "--threads", "7", "--rounds", "1", "--calls", "1")
    printed = run("cost", "--row-level-security", *small, PGCONTEXT_TEST_DSN=postgres.dsn)
    assert "one of each" in printed.splitlines()[-1]


def test_cost_of_embedding() -> None:
    printed = run("embedding", "--passages", "4", "--queries", "4")
    for figure in ("start to the first embedding", "a query", "passages of 200 words", "reranking", "cutting"):
        assert any(line.startswith(figure) for line in printed.splitlines())


def test_size_of_the_tool_list() -> None:
    assert "all of tools/list" in run("tokens")


@pytest.mark.slow
def test_cost_of_authentication() -> None:
    printed = run("authentication", "--rounds", "2", "--calls", "2")
    assert printed.count("check of a token") == 4
    assert printed.count("over HTTP") == 3
