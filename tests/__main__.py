"""Runs everything that must pass before a change lands: `python -m tests`.

Linters and the type checker first, then every test; what follows `--` on the command line goes to pytest. The
output ends with pytest's summary. The exit status is 0 when all of it passed, also what ran before the tests.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def checks() -> list[tuple[str, list[str]]]:
    """Name and command of everything but the tests, with the tools of the Python that runs this."""
    python = [sys.executable, "-m"]
    squawk = str(Path(sysconfig.get_path("scripts")) / "squawk")
    migrations = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "migrations/postgresql").glob("*.sql"))
    return [
        ("ruff check", [*python, "ruff", "check", "."]),
        ("ruff format", [*python, "ruff", "format", "--check", "."]),
        ("mypy", [*python, "mypy"]),
        ("sqlfluff", [*python, "sqlfluff", "lint", "--disable-progress-bar", "sql", "migrations/postgresql"]),
        ("squawk", [squawk, *migrations]),
    ]


def main(arguments: Sequence[str]) -> int:
    """Run the checks and the tests; the exit status."""
    if arguments and arguments[0] != "--":
        print("usage: python -m tests [-- ARGUMENTS FOR PYTEST]", file=sys.stderr)
        return 2
    failed = [name for name, command in checks() if not _passes(name, command)]
    if failed:
        print(f"failed before the tests: {', '.join(failed)}", flush=True)
    print("pytest", flush=True)
    tests = subprocess.run([sys.executable, "-m", "pytest", *arguments[1:]], cwd=ROOT)
    return tests.returncode or int(bool(failed))


def _passes(name: str, command: list[str]) -> bool:
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    passed = done.returncode == 0
    print(f"{name:<12} {'passed' if passed else 'FAILED'} in {time.monotonic() - begin:.1f} s", flush=True)
    if not passed:
        print(done.stdout, flush=True)
    return passed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
