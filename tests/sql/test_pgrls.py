"""An independent checker of row-level security agrees, but for exceptions that are explained beside this file."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.postgres import PostgresServer

CONFIG = Path(__file__).with_name("pgrls.toml")
VERDICTS: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("pgrls_verdicts.yaml").read_text())
IDENTITY = ("current_principal", "current_readers")


@pytest.fixture(scope="module")
def dsn(postgres: PostgresServer, database: Callable[[], str]) -> str:
    return postgres.database(database())


def pgrls(dsn: str, command: str, *arguments: str, config: Path = CONFIG) -> Any:
    """What a command of pgrls reports."""
    command_line = [sys.executable, "-m", "pgrls", command, "--database-url", dsn, "--config", str(config)]
    command_line += ["--schemas", "pgcontext", "--format", "json", *arguments]
    done = subprocess.run(command_line, capture_output=True, text=True)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_the_linter_finds_nothing_that_is_not_explained(dsn: str) -> None:
    assert pgrls(dsn, "lint")["violations"] == []


def test_no_explanation_outlives_its_finding(dsn: str, tmp_path: Path) -> None:
    bare = tmp_path / "pgrls.toml"
    bare.write_text('[database]\nschemas = ["pgcontext"]\n')
    found = {
        (finding["rule_id"], finding["location"]) for finding in pgrls(dsn, "lint", config=bare)["violations"]
    }
    rules = tomllib.loads(CONFIG.read_text())["lint"]["rules"]
    explained = {(rule, place) for rule, options in rules.items() for place in options.get("allowlist", ())}
    assert explained == found


@pytest.mark.parametrize("mode", ["anon", "cross-tenant", "write", "escalation", "reachability"])
def test_the_prover_leaks_nothing_that_is_not_explained(dsn: str, mode: str) -> None:
    helpers = [part for name in IDENTITY for part in ("--auth-function", f"pgcontext.{name}")]
    report = pgrls(dsn, "verify", "--mode", mode, *helpers)
    verdicts = {table["table"].removeprefix("pgcontext."): table["verdict"] for table in report["tables"]}
    assert {table: verdict for table, verdict in verdicts.items() if verdict != "isolated"} == VERDICTS.get(
        mode, {}
    )
