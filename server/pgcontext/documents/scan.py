"""Walking the base folders: which documents are there, and below which folders that is not known."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pgcontext.documents.extract import is_supported
from pgcontext.documents.folders import (
    KEY_FOLDERS,
    BaseFolders,
    FileUnreadable,
    Location,
    open_folder,
    read_in,
)
from pgcontext.documents.ignoring import GITIGNORE, MAX_GITIGNORE_BYTES, IgnoreRules, Ignoring
from pgcontext.text.characters import shown, unstorable_character

MAX_FILE_SIZE = 100 * 2**20
_MOST_PATH_CHARACTERS = 4096
_SHOWN_RULES = 5


@dataclass(frozen=True)
class FoundFile:
    """A document on disk under its one real name."""

    location: Location
    size: int
    modified_ns: int


@dataclass(frozen=True)
class Problem:
    """Something that a scan has to report: where, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Scan:
    """What a scan saw.

    `files` are the documents, by base folder and name. `unknown` are folders and files that exist, or may exist,
    and could not be looked at: what was ingested from there stays. `notes` are worth a warning and leave no doubt.
    """

    scope: tuple[Location, ...]
    files: tuple[FoundFile, ...]
    unknown: tuple[Problem, ...]
    notes: tuple[Problem, ...]

    def may_prune(self, path: str) -> bool:
        """Whether a document that is not among `files` is surely gone, or no longer wanted."""
        return any(_is_under(path, location.path) for location in self.scope) and not any(
            _is_under(path, problem.path) for problem in self.unknown
        )


def scan(
    bases: BaseFolders,
    rules: IgnoreRules | None = None,
    *,
    below: Location | None = None,
    max_file_size: int = MAX_FILE_SIZE,
    accepts: Callable[[str], bool] = is_supported,
) -> Scan:
    """All documents under the base folders, or under one place in them. Links are never followed.

    `accepts` tells by its name whether a file is a document. A base folder that is missing, unreadable or without
    any document leaves doubt: it stands in `unknown` as a whole.
    """
    scope = (below,) if below else tuple(Location(root, ()) for root in bases.roots)
    walker = _Walker(rules or IgnoreRules(), max_file_size, accepts)
    for start in scope:
        walker.walk(start)
    return Scan(scope, tuple(walker.files), tuple(walker.unknown), tuple(walker.notes))


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


class _Walker:
    def __init__(self, rules: IgnoreRules, max_file_size: int, accepts: Callable[[str], bool]) -> None:
        self.files: list[FoundFile] = []
        self.unknown: list[Problem] = []
        self.notes: list[Problem] = []
        self._rules = rules
        self._max_file_size = max_file_size
        self._accepts = accepts

    def walk(self, start: Location) -> None:
        """Everything under one place; the rules above it hold too."""
        before = len(self.files)
        ignoring = Ignoring(self._rules)
        self._note_rejected(Location(start.root, ()), ignoring.rejected)
        for depth, _ in enumerate(start.parts):
            above = Location(start.root, start.parts[:depth])
            entered = self._enter(above, ignoring)
            if entered is None:
                return
            ignoring, entries = entered
            if not entries and not above.parts:
                self.unknown.append(Problem(above.path, "The base folder is empty"))
                return
            folders = [name for name, details in entries if stat.S_ISDIR(details.st_mode)]
            if start.parts[depth] not in folders:
                if depth + 1 == len(start.parts):
                    named = [entry for entry in entries if entry[0] == start.parts[depth]]
                    self._files(above, ignoring, named)
                return
            if self._leaves_out(ignoring, start.parts[: depth + 1], is_folder=True):
                self.unknown.append(Problem(start.path, "The folder is left out by the ignore rules"))
                return
        self._walk_down(start, ignoring)
        if len(self.files) == before and not start.parts:
            self.unknown.append(Problem(start.path, "The base folder holds no documents"))

    def _walk_down(self, start: Location, ignoring: Ignoring) -> None:
        waiting = [(start, ignoring)]
        while waiting:
            folder, ignoring = waiting.pop()
            entered = self._enter(folder, ignoring)
            if entered is None:
                continue
            ignoring, entries = entered
            self._files(folder, ignoring, entries)
            below = [
                (Location(folder.root, (*folder.parts, name)), ignoring)
                for name, details in entries
                if stat.S_ISDIR(details.st_mode)
                and not self._leaves_out(ignoring, (*folder.parts, name), is_folder=True)
            ]
            waiting.extend(reversed(below))

    def _leaves_out(self, ignoring: Ignoring, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        return parts[-1] in KEY_FOLDERS or ignoring.ignores(parts, is_folder=is_folder)

    def _enter(
        self, folder: Location, ignoring: Ignoring
    ) -> tuple[Ignoring, list[tuple[str, os.stat_result]]] | None:
        """The rules in a folder and its entries by name; None, and a problem, when it cannot be read."""
        if len(folder.path) > _MOST_PATH_CHARACTERS:
            self.unknown.append(Problem(shown(folder.path), "The path is too long"))
            return None
        try:
            with open_folder(folder) as opened, os.scandir(opened) as listed:
                entries = sorted(self._details(folder, listed))
                if self._rules.gitignore and any(
                    name == GITIGNORE and stat.S_ISREG(details.st_mode) for name, details in entries
                ):
                    content = read_in(opened, GITIGNORE, MAX_GITIGNORE_BYTES)
                    ignoring = ignoring.with_gitignore(len(folder.parts), content)
                    self._note_rejected(folder, ignoring.rejected)
        except FileUnreadable as error:
            self.unknown.append(Problem(folder.path, f"Its .gitignore cannot be used: {error}"))
            return None
        except OSError as error:
            self.unknown.append(Problem(folder.path, f"The folder cannot be read: {error.strerror or 'error'}"))
            return None
        return ignoring, entries

    def _details(
        self, folder: Location, listed: Iterator[os.DirEntry[str]]
    ) -> Iterator[tuple[str, os.stat_result]]:
        for entry in listed:
            path = os.path.join(folder.path, entry.name)
            if unstorable_character(entry.name):
                self.notes.append(Problem(shown(path), "The name is not valid Unicode"))
                continue
            try:
                yield entry.name, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.unknown.append(Problem(path, f"It cannot be looked at: {error.strerror or 'error'}"))

    def _files(self, folder: Location, ignoring: Ignoring, entries: list[tuple[str, os.stat_result]]) -> None:
        for name, details in entries:
            location = Location(folder.root, (*folder.parts, name))
            if stat.S_ISLNK(details.st_mode) and not ignoring.ignores(location.parts, is_folder=False):
                self.notes.append(Problem(location.path, "Symbolic links are not followed"))
            if not stat.S_ISREG(details.st_mode) or not self._accepts(name):
                continue
            if self._leaves_out(ignoring, location.parts, is_folder=False):
                continue
            if details.st_size > self._max_file_size:
                reason = f"The file is larger than {self._max_file_size} bytes"
                self.unknown.append(Problem(location.path, reason))
            elif len(location.path) > _MOST_PATH_CHARACTERS:
                self.notes.append(Problem(shown(location.path), "The path is too long"))
            else:
                self.files.append(FoundFile(location, details.st_size, details.st_mtime_ns))

    def _note_rejected(self, folder: Location, rejected: tuple[str, ...]) -> None:
        for line in rejected[:_SHOWN_RULES]:
            self.notes.append(Problem(folder.path, f"The ignore rule '{shown(line)}' cannot be used"))
