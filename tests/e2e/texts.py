"""Real texts that lie on any machine with Python: licences, descriptions of packages, the standard library."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

MAX_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it will be stored, without surrounding white space, and what to call it."""

    title: str
    text: str


def licences(limit: int) -> list[Text]:
    """Licence texts: the system's, and those that packages bring."""
    return _first(limit, _licence_files())


def package_descriptions(limit: int) -> list[Text]:
    """The METADATA of the installed packages, their README included."""
    found = ((str(package.name), package.read_text("METADATA") or "") for package in distributions())
    return _first(limit, found)


def library_modules(limit: int) -> list[Text]:
    """Source files of Python's standard library, documentation strings included."""
    folder = Path(sysconfig.get_path("stdlib"))
    return _first(limit, ((path.name, _read(path)) for path in sorted(folder.glob("*.py"))))


def _licence_files() -> Iterator[tuple[str, str]]:
    for path in sorted(Path("/usr/share/common-licenses").glob("*")):
        yield path.name, _read(path)
    for package in distributions():
        for file in package.files or ():
            if file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE")):
                yield f"{package.name}: {file.name}", _read(Path(str(file.locate())))


def _read(path: Path) -> str:
    """The text of a file, empty where there is none to be had."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _first(limit: int, found: Iterator[tuple[str, str]]) -> list[Text]:
    """So many of the texts, each once, without those that are empty or no text."""
    kept: dict[str, Text] = {}
    for title, text in found:
        stripped = text[:MAX_CHARACTERS].strip()
        if stripped and "\0" not in stripped:
            kept.setdefault(stripped, Text(title, stripped))
        if len(kept) == limit:
            break
    return list(kept.values())
