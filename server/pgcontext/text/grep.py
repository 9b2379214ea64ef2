"""Finding a pattern in texts: literal ones through `re`, those of users through `regex` under a time limit.

A match may span lines. `^` and `$` hold at the ends of each line and `.` does not leave it, whichever of `\\n`,
`\\r\\n` and `\\r` ends it; to a regular expression all three are `\\n`, unless it names `\\r` itself. Offsets are
code points of the text as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

import regex

from pgcontext.text.lines import Lines

MAX_LINE = 500
"""As much of a line as a result shows."""

_ELLIPSIS = "…"
_NAMES_RETURN = re.compile(r"\r|(?<!\\)(?:\\\\)*\\(?:r|x0[dD]|0?15|u000[dD]|U0000000[dD])")


class WrongPattern(ValueError):
    """A regular expression that has no meaning, or that cannot be prepared."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What to look for."""

    source: str
    is_regex: bool = False
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A match, and the line on which it begins with its neighbours; long lines are cut to `MAX_LINE`."""

    line_number: int
    line: str
    match_start: int
    match_end: int
    before: list[str]
    after: list[str]


@dataclass(slots=True)
class Found:
    """The matches in one text; `lines` only where they were asked for."""

    key: str
    count: int
    lines: list[LineMatch] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    """What a search of some texts gave: the texts with matches, in order, and what kept it from being whole.

    `is_capped` when there were more matches than wanted, `is_timed_out` when a text was given up; `seconds`
    is the time it took.
    """

    found: list[Found] = field(default_factory=list)
    is_capped: bool = False
    is_timed_out: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much of what is found is wanted; `context_lines` None asks for numbers alone.

    `text_timeout` seconds are spent on one text and `timeout` on all of them, by a regular expression.
    """

    max_matches: int
    context_lines: int | None = None
    text_timeout: float = 5.0
    timeout: float = 30.0


Spans = Iterator[tuple[int, int]]


def search_texts(pattern: Pattern, texts: Sequence[tuple[str, str]], wanted: Wanted) -> Outcome:
    """Look through texts, given with a key each, until there are enough matches. Raises `WrongPattern`."""
    find = _finder(pattern)
    outcome = Outcome()
    left = wanted.max_matches
    started = monotonic()
    deadline = started + wanted.timeout
    for key, text in texts:
        seconds = min(wanted.text_timeout, deadline - monotonic())
        spans: list[tuple[int, int]] = []
        try:
            if seconds <= 0:
                raise TimeoutError
            for span in find(text, seconds):
                if len(spans) == left:
                    outcome.is_capped = True
                    break
                spans.append(span)
        except (TimeoutError, MemoryError):
            outcome.is_timed_out = True
        if spans:
            outcome.found.append(_found(key, text, spans, wanted.context_lines))
            left -= len(spans)
        if outcome.is_capped:
            break
    outcome.seconds = monotonic() - started
    return outcome


def _found(key: str, text: str, spans: Sequence[tuple[int, int]], context_lines: int | None) -> Found:
    if context_lines is None:
        return Found(key, len(spans))
    lines = Lines(text)
    return Found(key, len(spans), [_line_match(text, lines, *span, context_lines) for span in spans])


def _line_match(text: str, lines: Lines, start: int, end: int, context_lines: int) -> LineMatch:
    number = lines.number_at(start)
    before = range(max(number - context_lines, 1), number)
    after = range(number + 1, min(number + context_lines, len(lines)) + 1)
    return LineMatch(
        number,
        _shown(text, lines, number, start),
        start,
        end,
        [_shown(text, lines, other) for other in before],
        [_shown(text, lines, other) for other in after],
    )


def _shown(text: str, lines: Lines, number: int, offset: int | None = None) -> str:
    """A line, or the part of a long one that begins shortly before an offset."""
    first, last = lines.start(number), lines.end(number)
    if last - first <= MAX_LINE:
        return text[first:last]
    begin = first if offset is None else max(first, min(offset - MAX_LINE // 5, last - MAX_LINE))
    end = begin + MAX_LINE
    return _ELLIPSIS * (begin > first) + text[begin:end] + _ELLIPSIS * (end < last)


def _finder(pattern: Pattern) -> Callable[[str, float], Spans]:
    if not pattern.is_regex:
        literal = re.compile(re.escape(pattern.source), 0 if pattern.case_sensitive else re.IGNORECASE)
        return lambda text, _seconds: (found.span() for found in literal.finditer(text))
    compiled = _compile(pattern)
    is_plain = _NAMES_RETURN.search(pattern.source) is not None

    def find(text: str, seconds: float) -> Spans:
        if is_plain or "\r" not in text:
            return (found.span() for found in compiled.finditer(text, timeout=seconds))
        return _find_across_returns(compiled, text, seconds)

    return find


def _compile(pattern: Pattern) -> regex.Pattern[str]:
    flags = regex.MULTILINE | (0 if pattern.case_sensitive else regex.IGNORECASE)
    try:
        return regex.compile(pattern.source, flags)
    except regex.error as error:
        raise WrongPattern(f"is not a regular expression: {error}") from None
    except (RecursionError, MemoryError, OverflowError):
        raise WrongPattern("is too large a regular expression") from None
    except Exception as error:
        raise WrongPattern(f"is not a regular expression: {error}") from None


def _find_across_returns(compiled: regex.Pattern[str], text: str, seconds: float) -> Spans:
    """Find in the text with `\\n` for every end of a line, and tell where that is in the text as it is."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    # where in the plain text one character stands for two
    shortened = [found.start() - number for number, found in enumerate(re.finditer("\r\n", text))]
    for found in compiled.finditer(plain, timeout=seconds):
        start, end = found.span()
        yield start + bisect_left(shortened, start), end + bisect_left(shortened, end)
