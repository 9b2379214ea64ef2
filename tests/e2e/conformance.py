"""The MCP conformance suite against a real server, in both eras of the protocol.

    python -m tests.e2e.conformance

Installs the suite from npm into a folder of its own, with the Node.js that it needs. Prints every check that fails
without being listed in conformance.yaml, and every listed one that does not fail any more; the exit status is 0
when there are none, and 75 when npm cannot bring the suite.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.e2e.processes import ServerProcess

PACKAGES = ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22")
ERAS = ("2025-11-25", "2026-07-28")
EXCEPTIONS: dict[str, dict[str, list[str]]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
EX_TEMPFAIL = 75

_RESULT = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[^/]*")
_INSTALL_SECONDS = 300
_RUN_SECONDS = 300

Check = tuple[str, str]
"""Scenario and check."""


class NotAtHand(Exception):
    """The suite cannot be installed; the text says why."""


@dataclass
class Outcome:
    """How the checks of one era came out."""

    counts: Counter[str] = field(default_factory=Counter)
    scenarios: set[str] = field(default_factory=set)
    failures: dict[Check, str] = field(default_factory=dict)


def excused() -> dict[Check, str]:
    """The checks that cannot pass, and why."""
    return {
        (scenario, check): reason
        for reason, scenarios in EXCEPTIONS.items()
        for scenario, checks in scenarios.items()
        for check in checks
    }


def install(folder: Path) -> list[str]:
    """Install the suite; the command that runs it. Raises `NotAtHand`."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotAtHand("npm is not installed")
    (folder / "package.json").write_text("{}")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefer-offline", *PACKAGES]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotAtHand(f"npm has not finished after {_INSTALL_SECONDS} s") from None
    modules = folder / "node_modules"
    node, suite = modules / ".bin/node", modules / "@modelcontextprotocol/conformance/dist/index.js"
    if done.returncode or not node.exists() or not suite.exists():
        raise NotAtHand(f"npm cannot install the suite: {done.stderr[-300:]}")
    return [str(node), str(suite)]


def run_suite(suite: list[str], url: str, era: str, folder: Path) -> Outcome:
    """Run every scenario of an era, and read what the suite wrote about each."""
    results = folder / era
    options = ["--url", url, "--suite", "all", "--spec-version", era, "-o", str(results)]
    subprocess.run([*suite, "server", *options], cwd=folder, capture_output=True, timeout=_RUN_SECONDS)
    outcome = Outcome()
    for file in sorted(results.glob("*/checks.json")):
        named = _RESULT.fullmatch(file.parent.name)
        assert named, file
        outcome.scenarios.add(named["scenario"])
        for check in json.loads(file.read_text()):
            _note(outcome, named["scenario"], check)
    return outcome


def _note(outcome: Outcome, scenario: str, check: dict[str, Any]) -> None:
    outcome.counts[check["status"]] += 1
    if check["status"] == "FAILURE":
        outcome.failures[scenario, check["id"]] = check.get("errorMessage", "")


def faults(outcomes: dict[str, Outcome]) -> list[str]:
    """What is wrong: failures that are not excused, and excuses that are not needed."""
    listed = excused()
    lines = [
        f"{era} {scenario} {check}: {message}"
        for era, outcome in outcomes.items()
        for (scenario, check), message in outcome.failures.items()
        if (scenario, check) not in listed
    ]
    failing = {check for outcome in outcomes.values() for check in outcome.failures}
    lines += [f"{scenario} {check} does not fail any more" for scenario, check in sorted(listed.keys() - failing)]
    return lines


def main() -> int:
    """Run both eras and print what came of them."""
    with tempfile.TemporaryDirectory(prefix="pgcontext-conformance-") as name:
        folder = Path(name)
        try:
            suite = install(folder)
        except NotAtHand as error:
            print(f"not run: {error}")
            return EX_TEMPFAIL
        settings = {"STORAGE_BACKEND": "sqlite", "DB_PATH": str(folder / "pgcontext.db")}
        with ServerProcess(settings, folder) as server:
            outcomes = {era: run_suite(suite, server.url, era, folder) for era in ERAS}
    for era, outcome in outcomes.items():
        failed = {scenario for scenario, _ in outcome.failures}
        print(
            f"{era}: {len(outcome.scenarios)} scenarios, {len(outcome.scenarios - failed)} without a failure; "
            f"checks: {dict(outcome.counts)}"
        )
    wrong = faults(outcomes)
    print("\n".join(wrong) or f"every failure is one of the {len(excused())} listed")
    has_run = all(outcome.scenarios for outcome in outcomes.values())
    return 0 if has_run and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
