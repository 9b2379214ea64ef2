"""Lines and spans of a text. Offsets are code points from 0; lines are numbered from 1.

A line ends with `\\n`, `\\r\\n` or `\\r` alone, and with nothing else: other separators of Unicode are characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

LINE_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: `end_char` is exclusive, `end_line` the line of the last character."""

    start_char: int
    end_char: int
    start_line: int
    end_line: int
    text: str


class Lines:
    """The lines of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        self._ends: list[int] = []
        for found in LINE_BREAK.finditer(text):
            self._ends.append(found.start())
            self._starts.append(found.end())
        self._ends.append(len(text))

    def __len__(self) -> int:
        return len(self._starts)

    def number_at(self, offset: int) -> int:
        """The line on which the character at an offset stands."""
        return bisect_right(self._starts, offset)

    def start(self, number: int) -> int:
        """The offset at which a line begins."""
        return self._starts[number - 1]

    def end(self, number: int) -> int:
        """The offset at which a line ends, before its break."""
        return self._ends[number - 1]


def slice_characters(text: str, start_char: int | None, end_char: int | None) -> Span:
    """The characters from one offset up to another, cut to the text; None is its beginning or its end."""
    start = min(max(start_char or 0, 0), len(text))
    end = len(text) if end_char is None else max(min(end_char, len(text)), start)
    lines = Lines(text[: end + 1])
    return Span(start, end, lines.number_at(start), lines.number_at(max(end - 1, start)), text[start:end])


def slice_lines(text: str, start_line: int | None, end_line: int | None) -> Span:
    """The lines from one number to another, cut to the text, without the last one's break; None as above."""
    lines = Lines(text)
    first = min(max(start_line or 1, 1), len(lines))
    last = len(lines) if end_line is None else min(max(end_line, 1), len(lines))
    start, end = lines.start(first), lines.end(last)
    return Span(start, end, first, last, text[start:end])
