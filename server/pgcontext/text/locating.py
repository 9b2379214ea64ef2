"""Where in a text its words stand, which `analysis` loses sight of when it brings the text into one form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pgcontext.text.analysis import (
    HUMP,
    MARKS,
    PICTURES,
    SEPARATORS,
    UNSPACED,
    analyze_text,
    split_words,
)

_piece = re.compile(
    f"[{UNSPACED}][{UNSPACED}{MARKS}]*|[{PICTURES}]|[^{SEPARATORS}{UNSPACED}{PICTURES}]+",
)
_unspaced = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class LocatedWord:
    """A word of a text: where it stands, its stem and itself in lower case without accents."""

    begin: int
    end: int
    stem: str
    plain: str


def locate_words(text: str, language: str) -> list[LocatedWord]:
    """The words of a text in order, as `analyze_text` finds them; pairs in scripts without spaces overlap."""
    located = []
    for piece in _piece.finditer(text):
        begin = piece.start()
        # a hump lies between two letters
        borders = [0, *(hump.start() + 1 for hump in HUMP.finditer(piece[0])), len(piece[0])]
        for start, end in pairwise(borders):
            located += _locate(piece[0][start:end], begin + start, language)
    return located


@lru_cache(maxsize=20_000)
def _analyze(piece: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return analyze_text(piece, language).words, tuple(split_words(piece))


def _locate(piece: str, begin: int, language: str) -> list[LocatedWord]:
    stems, plain = _analyze(piece, language)
    is_paired = _unspaced.match(piece) is not None and len(stems) == len(piece)
    return [
        LocatedWord(
            begin + place if is_paired else begin,
            min(begin + place + 2, begin + len(piece)) if is_paired else begin + len(piece),
            stem,
            word,
        )
        for place, (stem, word) in enumerate(zip(stems, plain, strict=False))
    ]
