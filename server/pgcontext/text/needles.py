"""What a text must hold if a pattern is to match in it.

A database can find the texts that hold a string, by an index; whether a pattern matches is for Python to say. So a
pattern is reduced to a few strings, its needles: every text in which it matches holds, once folded, one of them.
Where that cannot be said for sure there are none, and every text is looked at.

Folding maps A-Z to a-z, and likewise the four letters that are an ASCII letter in another case: `İ`, `ı`, `ſ` and
the Kelvin sign. Nothing else, so that every database can do it in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from math import prod

import regex

_MAX_NEEDLES = 32
_LENGTH = 3
"""Of a trigram; no index finds anything shorter."""

_MAX_LENGTH = 32
"""Longer needles find hardly less and cost more."""

_MAX_READ = 512
"""As much of a literal as is looked at: somewhere in there is a needle, or nowhere."""

_FOLDED = str.maketrans(
    {chr(letter): chr(letter + 32) for letter in range(ord("A"), ord("Z") + 1)}
    | {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
)
_CONTEXTUAL = frozenset("Σσς")
"""Some locales lower-case these by what stands beside them, and an index may do so."""

_QUANTIFIER = re.compile(r"\{(\d+)(?:,\d*)?\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z01-]+)[:)]")


def fold(text: str) -> str:
    """A text as the indexes hold it."""
    return text.translate(_FOLDED)


def needles_of(pattern: str, *, is_regex: bool, case_sensitive: bool) -> tuple[str, ...]:
    """The needles of a pattern, folded; none when nothing is sure."""
    if not is_regex:
        return _best([pattern], case_sensitive) or ()
    alternatives = _required_literals(pattern)
    if alternatives is None:
        return ()
    needles: dict[str, None] = {}
    for literals in alternatives:
        found = _best(literals, case_sensitive and not _may_ignore_case(pattern))
        if found is None:
            return ()
        needles |= dict.fromkeys(found)
    return tuple(needles) if len(needles) <= _MAX_NEEDLES else ()


def _may_ignore_case(pattern: str) -> bool:
    return any("i" in flags for flags in _FLAGS.findall(pattern))


def _best(literals: Sequence[str], case_sensitive: bool) -> tuple[str, ...] | None:
    """The needles of the literal that narrows most; None when none of them can be looked for."""
    choices: list[tuple[str, ...]] = []
    for literal in literals[:_MAX_READ]:
        for part in _usable_parts(literal[:_MAX_READ]):
            variants = [_variants(character, case_sensitive) for character in part]
            choices += _choices(variants)
    if not choices:
        return None
    return max(choices, key=_worth)


def _worth(needles: Sequence[str]) -> tuple[int, int, int]:
    """Letters and digits narrow, punctuation hardly; few needles cost less, and long ones find less."""
    return min(sum(map(str.isalnum, needles[0])), _LENGTH), -len(needles), len(needles[0])


def _usable_parts(literal: str) -> Iterator[str]:
    part = ""
    for character in literal:
        if character in _CONTEXTUAL or character < " ":
            yield part
            part = ""
        else:
            part += character
    yield part


def _choices(variants: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Stretches that are written in one way only, and three characters in all the ways they may be written."""
    start = 0
    for end in range(len(variants) + 1):
        if end < len(variants) and len(variants[end]) == 1:
            continue
        if end - start >= _LENGTH:
            stop = min(end, start + _MAX_LENGTH)
            yield ("".join(only for (only,) in variants[start:stop]),)
        start = end + 1
    for start in range(len(variants) - _LENGTH + 1):
        window = variants[start : start + _LENGTH]
        if 1 < prod(map(len, window)) <= _MAX_NEEDLES:
            yield tuple(map("".join, product(*window)))


@lru_cache(4096)
def _variants(character: str, case_sensitive: bool) -> tuple[str, ...]:
    """How a character of a pattern may be written in a folded text: whatever one of the two engines lets match."""
    found = {character}
    if not case_sensitive and character >= "\x80":
        found |= {*re.findall(re.escape(character), _cased(), re.IGNORECASE)}
        found |= {*regex.findall(regex.escape(character), _cased(), regex.IGNORECASE)}
    return tuple(sorted(map(fold, found)))


@cache
def _cased() -> str:
    """Every character that has another case, as Python or `regex` knows it: their tables may differ in age."""
    characters = "".join(chr(code) for code in range(_END_OF_SCRIPTS) if not 0xD800 <= code < 0xE000)
    known = {character for character in characters if character.lower() != character.upper()}
    return "".join(sorted(known | {*regex.findall(r"[\p{CWCM}\p{CWCF}]", characters)}))


_END_OF_SCRIPTS = 0x20000
"""What comes after is ideographs, which have no case, and characters that are none."""


def _required_literals(pattern: str) -> list[list[str]] | None:
    """For each alternative of a regular expression the literals that a match holds; None when in doubt.

    Only what stands outside of all groups counts, and only syntax whose meaning is beyond doubt.
    """
    if "(?#" in pattern or any(set(flags) - set("aimsu") for flags in _FLAGS.findall(pattern)):
        return None
    try:
        return _Reader(pattern).read()
    except _Doubt:
        return None


class _Doubt(Exception):
    """The pattern holds something that this module does not understand."""


class _Reader:
    """Reads a regular expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._alternatives: list[list[str]] = [[]]
        self._run = ""

    def read(self) -> list[list[str]]:
        while self._place < len(self._pattern):
            self._read_one()
        self._end_run()
        return self._alternatives

    def _next(self) -> str:
        if self._place >= len(self._pattern):
            raise _Doubt
        self._place += 1
        return self._pattern[self._place - 1]

    def _end_run(self) -> None:
        if self._run:
            self._alternatives[-1].append(self._run)
            self._run = ""

    def _read_one(self) -> None:
        match character := self._next():
            case "|":
                self._end_run()
                self._alternatives.append([])
            case "(":
                self._end_run()
                self._skip_group()
            case "[":
                self._end_run()
                self._skip_set()
            case "." | "^" | "$":
                self._end_run()
            case "*" | "?":
                self._drop_last()
            case "+":
                self._end_run()
            case "{":
                self._read_count()
            case ")":
                raise _Doubt
            case "\\":
                self._read_escape()
            case _:
                self._run += character

    def _drop_last(self) -> None:
        """What a quantifier stands behind need not be there at all."""
        self._run = self._run[:-1]
        self._end_run()

    def _read_count(self) -> None:
        found = _QUANTIFIER.match(self._pattern, self._place - 1)
        if not found:
            raise _Doubt
        self._place = found.end()
        if int(found[1]) == 0:
            self._drop_last()
        else:
            self._end_run()

    def _read_escape(self) -> None:
        character = self._next()
        if character in "dDwWsSbBAZntrfv":
            self._end_run()
        elif character.isalnum():
            raise _Doubt
        else:
            self._run += character

    def _skip_group(self) -> None:
        depth = 1
        while depth:
            match self._next():
                case "\\":
                    self._next()
                case "[":
                    self._skip_set()
                case "(":
                    depth += 1
                case ")":
                    depth -= 1

    def _skip_set(self) -> None:
        """Up to the end of a set of characters; one inside another has more than one meaning."""
        self._place += self._pattern.startswith("^", self._place)
        is_first = True
        while (character := self._next()) != "]" or is_first:
            is_first = False
            if character == "[":
                raise _Doubt
            if character == "\\":
                self._next()
