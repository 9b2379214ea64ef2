"""Which files of a folder are no documents: .gitignore files, hidden files, folders of dependencies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GITIGNORE = ".gitignore"
MAX_GITIGNORE_BYTES = 256 * 1024
# A name is matched in time that grows with the power of the stars in a pattern.
_MOST_STARS = 5
_STARS = re.compile(r"\*+")


@dataclass(frozen=True)
class IgnoreRules:
    """What the operator decides; `patterns` are further lines of .gitignore syntax, from the base folder."""

    gitignore: bool = True
    hidden: bool = True
    folders: frozenset[str] = frozenset({"node_modules"})
    patterns: tuple[str, ...] = ()


class Ignoring:
    """The rules that hold in one folder: the operator's and those of the .gitignore files down to it."""

    def __init__(self, rules: IgnoreRules) -> None:
        self._rules = rules
        spec, self.rejected = compile_lines(rules.patterns)
        self._operator = spec
        self._specs: tuple[tuple[int, GitIgnoreSpec], ...] = ()

    def with_gitignore(self, depth: int, content: bytes) -> Ignoring:
        """The rules in a folder `depth` levels below the base that has its own .gitignore."""
        spec, rejected = compile_lines(content.decode("utf-8-sig", errors="replace").splitlines())
        deeper = Ignoring.__new__(Ignoring)
        deeper._rules, deeper._operator, deeper.rejected = self._rules, self._operator, rejected
        deeper._specs = ((depth, spec), *self._specs)
        return deeper

    def ignores(self, parts: Sequence[str], *, is_folder: bool) -> bool:
        """Whether the rules leave out a file or folder, given by its path from the base, whose parent is in."""
        name = parts[-1]
        if self._rules.hidden and name.startswith("."):
            return True
        if is_folder and name in self._rules.folders:
            return True
        end = "/" if is_folder else ""
        if self._operator.check_file("/".join(parts) + end).include:
            return True
        for depth, spec in self._specs:
            verdict = spec.check_file("/".join(parts[depth:]) + end).include
            if verdict is not None:
                return verdict
        return False


def compile_lines(lines: Sequence[str]) -> tuple[GitIgnoreSpec, tuple[str, ...]]:
    """The rules of a .gitignore file, and the lines that are no rule or would take too long to match."""
    from pathspec import GitIgnoreSpec

    good: list[str] = []
    rejected: list[str] = []
    for line in lines:
        if len(_STARS.findall(line)) > _MOST_STARS and not line.startswith("#"):
            rejected.append(line)
            continue
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            rejected.append(line)
        else:
            good.append(line)
    return GitIgnoreSpec.from_lines(good), tuple(rejected)
