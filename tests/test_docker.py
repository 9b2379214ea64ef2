"""The image and the compose files agree with the server, as far as that shows without a Docker engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.processes import ServerProcess
from pgcontext.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "docker"
ROOT = FOLDER.parent
COMPOSE_FILES = sorted(FOLDER.glob("compose*.yaml"))
SETTINGS = {name.upper() for name in Settings.model_fields}
# what the database's own image is told
DATABASE_VARIABLES = {"POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_VERSION"}


def compose(path: Path) -> dict[str, Any]:
    """The services and volumes of a compose file."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_there_is_a_file_for_each_backend() -> None:
    backends = {
        service["environment"]["STORAGE_BACKEND"]
        for path in COMPOSE_FILES
        for service in compose(path)["services"].values()
        if "STORAGE_BACKEND" in service["environment"]
    }
    assert backends == {"sqlite", "postgresql"}


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_servers_are_given_settings_that_exist(path: Path) -> None:
    servers = [service for service in compose(path)["services"].values() if service["image"] == "pgcontext"]
    assert servers
    for service in servers:
        assert service["environment"].keys() <= SETTINGS


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_variables_from_outside_are_settings(path: Path) -> None:
    named = set(re.findall(r"(?<!\$)\$\{?([A-Z][A-Z0-9_]*)", path.read_text(encoding="utf-8")))
    assert named <= SETTINGS | DATABASE_VARIABLES


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_what_a_compose_file_names_is_there(path: Path) -> None:
    document = compose(path)
    for service in document["services"].values():
        assert set(service.get("depends_on", ())) <= document["services"].keys()
        if build := service.get("build"):
            context = (FOLDER / build["context"]).resolve()
            assert context == ROOT
            assert (context / build["dockerfile"]).is_file()
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (FOLDER / source).is_file() if source.startswith("./") else source in document["volumes"]


def test_image_sets_settings_that_exist_and_copies_files_that_exist() -> None:
    text = re.sub(r"\\\n", " ", (FOLDER / "Dockerfile").read_text(encoding="utf-8"))
    (variables,) = re.findall(r"^ENV (.*)$", text, re.MULTILINE)
    assert set(re.findall(r"(\w+)=", variables)) <= SETTINGS
    sources = [name for line in re.findall(r"^COPY ([^-].*)$", text, re.MULTILINE) for name in line.split()[:-1]]
    assert "server" in sources
    for source in sources:
        assert (ROOT / source).exists()
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(sources)
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE) == ["pgcontext"]


def test_health_check_tells_a_server_that_answers_from_none(tmp_path: Path) -> None:
    def check(port: int) -> int:
        command = [sys.executable, str(FOLDER / "healthcheck.py")]
        variables = os.environ | {"MCP_HTTP_PORT": str(port)}
        return subprocess.run(command, env=variables, stderr=subprocess.DEVNULL).returncode

    with ServerProcess({"DB_PATH": str(tmp_path / "pgcontext.db")}, tmp_path) as server:
        assert check(server.port) == 0
    assert check(server.port) != 0


def test_shell_script_is_sound() -> None:
    subprocess.run(["sh", "-n", str(FOLDER / "create_login.sh")], check=True)
