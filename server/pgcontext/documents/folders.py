"""The base folders: which files may be read at all, and the one name that each of them has.

A path is inside when both its spelling and what it really leads to are inside. Whatever is outside gets one and
the same answer, whether it exists or not. Reading walks down from the base folder without following links, so a
folder that is replaced by a link between the check and the read leads nowhere.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgcontext.errors import PgcontextError, StartRefused
from pgcontext.text.characters import unstorable_character

_SYSTEM_FOLDERS = (
    "/etc", "/proc", "/sys", "/dev", "/boot", "/run", "/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin",
    "/usr/lib", "/usr/libexec", "/var/run", "/var/spool", "/System", "/Library", "/private/etc",
    "C:\\Windows", "C:\\Program Files", "C:\\Program Files (x86)", "C:\\ProgramData",
)  # fmt: skip
KEY_FOLDERS = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".password-store", "keyrings"}
)
_MOST_LINKS = 16
_WALKS_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


class OutsideBaseFolders(PgcontextError):
    """The path is not inside a base folder; nothing is said about what is there."""

    def __init__(self) -> None:
        super().__init__("The path is not inside the base folders")


class FileUnreadable(PgcontextError):
    """A path inside the base folders that gives no file; `str()` says why."""


@dataclass(frozen=True)
class Location:
    """A place below a base folder under its one real name; it need not exist."""

    root: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        return os.path.join(self.root, *self.parts)

    @property
    def relative(self) -> str:
        return "/".join(self.parts)


@dataclass(frozen=True)
class BaseFolders:
    """The folders that documents live under; `spelt` are the names that the operator gave them."""

    roots: tuple[str, ...]
    spelt: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, folders: Sequence[str | Path]) -> BaseFolders:
        """From the operator's list. A folder inside another one of the list adds nothing.

        Raises `StartRefused` for a relative path, and for a folder that holds, or lies in, the system's files or
        somebody's keys. A folder may be missing: it can be a disk that is not there today.
        """
        spelt: list[tuple[str, str]] = []
        for folder in map(str, folders):
            if not os.path.isabs(folder) or unstorable_character(folder):
                raise StartRefused(f"The base folder '{folder!a}' must be an absolute path")
            real = os.path.realpath(folder)
            if reason := _refusal(real):
                raise StartRefused(f"The base folder '{folder}' {reason}")
            spelt.append((os.path.normpath(folder), real))
        reals = list(dict.fromkeys(real for _, real in spelt))
        roots = tuple(real for real in reals if not any(_below(real, other) for other in reals if other != real))
        return cls(roots, tuple(spelt))

    def locate(self, path: str) -> Location:
        """The one name of a file or folder, however its path is spelt. Raises `OutsideBaseFolders`."""
        if not os.path.isabs(path) or unstorable_character(path) or not self._is_spelt_inside(path):
            raise OutsideBaseFolders
        real = os.path.realpath(path)
        for _ in range(_MOST_LINKS):
            location = self._split(real)
            on_disk = os.path.join(location.root, *_names_on_disk(location))
            real = os.path.realpath(on_disk)
            if real == on_disk:
                return self._split(real)
        raise OutsideBaseFolders

    def _is_spelt_inside(self, path: str) -> bool:
        """The spelling alone, so that nothing outside is looked at."""
        spelling = os.path.normpath(path)
        return any(_below(spelling, base) for names in self.spelt for base in names)

    def _split(self, real: str) -> Location:
        for root in self.roots:
            if _below(real, root):
                parts = tuple(Path(real).relative_to(root).parts)
                if KEY_FOLDERS.isdisjoint(parts):
                    return Location(root, parts)
        raise OutsideBaseFolders


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _refusal(real: str) -> str | None:
    here = [folder for folder in _SYSTEM_FOLDERS if os.path.isabs(folder)]
    system = {*here, *map(os.path.realpath, here)}
    if any(_below(real, folder) or _below(folder, real) for folder in system):
        return "belongs to the operating system"
    if not KEY_FOLDERS.isdisjoint(Path(real).parts):
        return "holds keys"
    if any(os.path.lexists(os.path.join(real, name)) for name in KEY_FOLDERS):
        return "contains a folder with keys; name the folders with documents instead"
    return None


def _names_on_disk(location: Location) -> Iterator[str]:
    """The parts as the disk has them: the same letters may be written in several Unicode forms."""
    folder = location.root
    for part in location.parts:
        name = _name_on_disk(folder, part)
        yield name
        folder = os.path.join(folder, name)


def _name_on_disk(folder: str, part: str) -> str:
    if part.isascii() and os.path.normcase("A") == "A":
        return part
    try:
        names = os.listdir(folder)
    except OSError:
        return part
    if part in names:
        return part
    form = unicodedata.normalize("NFC", part)
    same = [name for name in names if unicodedata.normalize("NFC", name) == form]
    return same[0] if len(same) == 1 else part


@contextmanager
def open_folder(location: Location) -> Iterator[int | str]:
    """A folder to list and to open files in, reached without following a link; OSError when it is not there."""
    if not _WALKS_BY_DESCRIPTOR:
        if os.path.realpath(location.path) != location.path:
            raise NotADirectoryError(location.path)
        yield location.path
        return
    descriptor = os.open(location.root, _FOLDER_FLAGS)
    try:
        for part in location.parts:
            below = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def read_in(folder: int | str, name: str, max_size: int) -> bytes:
    """A regular file in a folder of `open_folder`.

    Raises OSError, or `FileUnreadable` when it is no file or too large.
    """
    if isinstance(folder, int):
        descriptor = os.open(name, _FILE_FLAGS, dir_fd=folder)
    else:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            raise FileUnreadable("The file is a symbolic link")
        descriptor = os.open(path, _FILE_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileUnreadable("The path is not a file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(max_size + 1)
    finally:
        os.close(descriptor)
    if len(content) > max_size:
        raise FileUnreadable(f"The file is larger than {max_size} bytes")
    return content


def read_file(location: Location, max_size: int) -> bytes:
    """The bytes of a file below a base folder, at most `max_size`; `FileUnreadable` says why there are none."""
    if not location.parts:
        raise FileUnreadable("The path is not a file")
    try:
        with open_folder(Location(location.root, location.parts[:-1])) as folder:
            return read_in(folder, location.parts[-1], max_size)
    except FileNotFoundError:
        raise FileUnreadable("The file does not exist") from None
    except OSError as error:
        raise FileUnreadable(f"The file cannot be read: {error.strerror or 'input/output error'}") from None
