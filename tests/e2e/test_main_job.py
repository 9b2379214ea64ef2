"""The main job on both backends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.postgres import PostgresServer

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_main_job(backend: str, request: pytest.FixtureRequest) -> None:
    variables = dict(os.environ)
    if backend == "postgresql":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        variables["PGCONTEXT_TEST_DSN"] = postgres.dsn
    command = [sys.executable, "-m", "tests.e2e.main_job", backend]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "deleted all" in done.stdout
