"""Texts cut into overlapping parts that a model can take in."""

from __future__ import annotations

from dataclasses import dataclass

import regex

_LINE_START = r"\n(?=[^\n\p{M}])"
_SENTENCE_START = r"[.!?…]['\"”’)\]]*+\s++(?=[^\p{M}])|[。！？]['\"”’」』）]*+(?=[^\p{M}])"
_WORD_START = r"(?<=\s)(?=[^\s\p{M}])"
_CHUNK_STARTS = tuple(
    regex.compile(pattern)
    for pattern in (r"\n[ \t\r]*+\n(?=[^\n\p{M}])", _LINE_START, _SENTENCE_START, _WORD_START)
)
"""Where a chunk begins by preference: paragraph, line, sentence, word. A match ends where the unit begins."""
_OVERLAP_STARTS = tuple(regex.compile(pattern) for pattern in (f"{_LINE_START}|{_SENTENCE_START}", _WORD_START))
_CHARACTER = regex.compile(r"\X")
_LONGEST_CHARACTER = 64
"""Code points; where more combine to what a person sees as one character, it may be cut."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, as code-point offsets: `text[begin:end]`."""

    begin: int
    end: int


def split_text(text: str, size: int, overlap: int) -> list[Span]:
    """Cut a text into spans of at most `size` characters that together cover it, in order.

    A text within `size` is one span, also the empty text. Else each span shares up to `overlap` characters with
    the one before, and begins and ends where a paragraph, a line, a sentence or a word begins, in this order of
    preference.
    Takes time in proportion to the text. ValueError unless `size` is positive and `overlap` at most its half.
    """
    if size < 1 or not 0 <= overlap <= size // 2:
        raise ValueError("the size of chunks must be positive and their overlap at most half of it")
    spans = []
    begin = 0
    while len(text) - begin > size:
        end = _find_end(text, begin, size, overlap)
        spans.append(Span(begin, end))
        begin = _find_begin(text, end, overlap)
    spans.append(Span(begin, len(text)))
    return spans


def _find_end(text: str, begin: int, size: int, overlap: int) -> int:
    """The end of the chunk that begins at `begin`, beyond its middle and beyond the chunk before."""
    first = begin + max(size // 2, overlap + 1)
    # what remains for the last two chunks is shared evenly
    last = max(first, begin + min(size, (len(text) - begin) // 2 + overlap))
    for pattern in _CHUNK_STARTS:
        # one character more, for what the pattern looks ahead at
        ends = [match.end() for match in pattern.finditer(text, first - 1, last + 1)]
        if ends and ends[-1] >= first:
            return int(ends[-1])
    return max(first, _character_start(text, last))


def _find_begin(text: str, end: int, overlap: int) -> int:
    """Where the chunk after one that ends at `end` begins: at most `overlap` before."""
    earliest = end - overlap
    for pattern, latest in zip(_OVERLAP_STARTS, (end - overlap // 2, end), strict=True):
        for match in pattern.finditer(text, max(0, earliest - 1), latest + 1):
            if match.end() >= earliest:
                return match.end()
    begin = _character_start(text, earliest)
    return begin if begin == earliest else end


def _character_start(text: str, position: int) -> int:
    """The last position up to this one that is not inside what a person sees as one character."""
    start = max(0, position - _LONGEST_CHARACTER)
    ends = [match.end() for match in _CHARACTER.finditer(text, start, position + _LONGEST_CHARACTER)]
    return max((end for end in ends if end <= position), default=position)
