"""The package as it is installed: a wheel in an empty folder, with nothing of the checkout at hand."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from e2e.processes import COMMAND, environment, on_postgres
from support.postgres import OWNER, PostgresServer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel, built without the network."""
    wheels = tmp_path_factory.mktemp("wheels")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = wheels.glob("pgcontext-*.whl")
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(site)
    return site


def test_wheel_holds_code_sql_and_migrations(site: Path) -> None:
    for folder, inside in (("sql", "_sql"), ("migrations", "_migrations"), ("server/pgcontext", "")):
        here = {path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*.*") if path.suffix != ".pyc"}
        there = {
            path.relative_to(site / "pgcontext" / inside) for path in (site / "pgcontext" / inside).rglob("*.*")
        }
        assert here <= there


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_wheel_runs_in_an_empty_folder(
    site: Path, tmp_path: Path, request: pytest.FixtureRequest, backend: str
) -> None:
    settings = {"DB_PATH": str(tmp_path / "data" / "pgcontext.db")}
    if backend == "postgresql":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        name = postgres.create_database()
        settings = on_postgres(postgres.database(name, OWNER))
    variables = environment(settings) | {"PYTHONPATH": str(site)}
    where = "import pgcontext; print(pgcontext.__file__)"
    shown = subprocess.check_output([sys.executable, "-c", where], env=variables, cwd=tmp_path, text=True)
    assert shown.startswith(str(site))
    subprocess.run([*COMMAND, "migrate"], env=variables, cwd=tmp_path, check=True)
