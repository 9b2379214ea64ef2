"""The reading order of a page: words with their boxes become rows, columns and tables.

Boxes are in points with the origin at the lower left, as in PDF. Nothing is dropped here or read twice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

SOFT_HYPHEN = "\x02"

# All distances are in heights of a line, so that they hold for every size of print.
_WORD_GAP = 0.8
_GUTTER = 0.55
_COLUMN_WIDTH = 8
_COLUMN_ROWS = 4
_COLUMN_FILL = 0.45
_COLUMN_CHARACTERS = 12
_MOST_CROSSING = 0.2
_MOST_COLUMNS_DEEP = 3


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text on one line, and its box."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def width(self) -> float:
        return self.right - self.left


Row = list[Piece]


def join_words(words: Iterable[Piece]) -> list[Piece]:
    """Words in the order of the file, joined where they follow one another on a line without a wide gap."""
    pieces: list[Piece] = []
    run: list[Piece] = []
    for word in words:
        if run and not _continues(run[-1], word):
            pieces.append(_join(run))
            run = []
        run.append(word)
    if run:
        pieces.append(_join(run))
    return pieces


def _continues(last: Piece, word: Piece) -> bool:
    gap = max(word.left - last.right, last.left - word.right)
    height = max(last.height, word.height)
    return _share_line(last, word) and -height < gap < _WORD_GAP * height


def _share_line(one: Piece, other: Piece) -> bool:
    overlap = min(one.top, other.top) - max(one.bottom, other.bottom)
    return overlap > 0.5 * min(one.height, other.height)


def _join(words: Sequence[Piece]) -> Piece:
    return Piece(
        " ".join(word.text for word in words),
        min(word.left for word in words),
        min(word.bottom for word in words),
        max(word.right for word in words),
        max(word.top for word in words),
    )


def rows(pieces: Iterable[Piece]) -> list[Row]:
    """The pieces as rows from top to bottom, each in reading direction."""
    result: list[Row] = []
    for piece in sorted(pieces, key=lambda piece: -(piece.top + piece.bottom)):
        if result and _share_line(result[-1][0], piece):
            result[-1].append(piece)
        else:
            result.append([piece])
    for row in result:
        row.sort(key=lambda piece: piece.left, reverse=_right_to_left(row))
    return result


def _right_to_left(row: Row) -> bool:
    directions = [unicodedata.bidirectional(character) for piece in row for character in piece.text]
    return sum(direction in ("R", "AL") for direction in directions) > directions.count("L")


def page_text(pieces: Sequence[Piece]) -> str:
    """The text of a page in reading order: column after column, tables as rows."""
    text = "\n".join(line for block in _blocks(pieces, _MOST_COLUMNS_DEEP) for line in _lines(block))
    return _without_soft_hyphens(text)


def _without_soft_hyphens(text: str) -> str:
    """A word that was divided at the end of a line is one word again."""
    joined = re.sub(rf"(?<=[^\W\d_]){SOFT_HYPHEN}\n([a-zß-ÿ]\S*) ?", r"\1\n", text)
    return joined.replace(SOFT_HYPHEN, "-")


def _blocks(pieces: Sequence[Piece], depth: int) -> list[Sequence[Piece]]:
    """Parts of the page, each to be read row by row, in the order in which they are read."""
    gutter = _find_gutter(pieces) if depth else None
    if gutter is None:
        return [pieces]
    left = [piece for piece in pieces if piece.right <= gutter]
    right = [piece for piece in pieces if piece.left >= gutter]
    across = rows(piece for piece in pieces if piece.left < gutter < piece.right)
    blocks: list[Sequence[Piece]] = []
    for row in [*across, []]:
        floor = max(piece.top + piece.bottom for piece in row) / 2 if row else float("-inf")
        for side in (left, right):
            above = [piece for piece in side if (piece.top + piece.bottom) / 2 > floor]
            side[:] = [piece for piece in side if (piece.top + piece.bottom) / 2 <= floor]
            if above:
                blocks.extend(_blocks(above, depth - 1))
        if row:
            blocks.append(row)
    return _merge_rows(blocks, across)


def _merge_rows(blocks: list[Sequence[Piece]], across: list[Row]) -> list[Sequence[Piece]]:
    """Neighbouring rows over the full width are one block again, so that a table among them stays one."""
    merged: list[Sequence[Piece]] = []
    wide = {id(row) for row in across}
    after_wide = False
    for block in blocks:
        if after_wide and id(block) in wide:
            merged[-1] = [*merged[-1], *block]
        else:
            merged.append(block)
        after_wide = id(block) in wide
    return merged


def _find_gutter(pieces: Sequence[Piece]) -> float | None:
    """Where the page parts into two columns of prose, if it does: the widest strip that few pieces cross."""
    if len(pieces) < 2 * _COLUMN_ROWS:
        return None
    height = median(piece.height for piece in pieces) or 1.0
    start, end = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    if end - start < 2 * _COLUMN_WIDTH * height or end - start > 1000 * height:
        return None
    step = height / 8
    strips = _strips(pieces, start, end, step)
    best: tuple[float, float] | None = None
    for first, last, crossing in strips:
        if (last - first) * step < _GUTTER * height:
            continue
        middle = start + (first + last) / 2 * step
        score = (last - first) * step / height - 20 * crossing / len(pieces)
        if (best is None or score > best[0]) and _parts_prose(pieces, middle, start, end):
            best = (score, middle)
    return best[1] if best else None


def _strips(pieces: Sequence[Piece], start: float, end: float, step: float) -> list[tuple[int, int, int]]:
    """Runs of narrow bins away from the edges that few pieces cover: first bin, end, the most pieces over one."""
    size = int((end - start) / step) + 2
    changes = [0] * (size + 1)
    for piece in pieces:
        changes[int((piece.left - start) / step)] += 1
        changes[min(int((piece.right - start) / step) + 1, size)] -= 1
    strips: list[tuple[int, int, int]] = []
    covered, first, most = 0, None, 0
    for position in range(size):
        covered += changes[position]
        inside = 0.12 * size < position < 0.88 * size and covered <= _MOST_CROSSING * len(pieces)
        if inside:
            first, most = (position if first is None else first), max(most, covered)
        elif first is not None:
            strips.append((first, position, most))
            first, most = None, 0
    return strips


def _parts_prose(pieces: Sequence[Piece], gutter: float, start: float, end: float) -> bool:
    """Whether the lines on both sides are filled like prose; the cells of a table are not."""
    left = [piece for piece in pieces if piece.right <= gutter]
    right = [piece for piece in pieces if piece.left >= gutter]
    if len(left) + len(right) < (1 - _MOST_CROSSING) * len(pieces):
        return False
    return _is_prose(left, gutter - start) and _is_prose(right, end - gutter)


def _is_prose(pieces: Sequence[Piece], width: float) -> bool:
    lines = rows(pieces)
    if len(lines) < _COLUMN_ROWS:
        return False
    filled = [sum(piece.width for piece in line) / width for line in lines]
    characters = [sum(len(piece.text) for piece in line) for line in lines]
    return median(filled) >= _COLUMN_FILL and median(characters) >= _COLUMN_CHARACTERS


def _lines(pieces: Sequence[Piece]) -> list[str]:
    """A block as lines of text, with an empty line where there is space between paragraphs."""
    lines: list[str] = []
    block = rows(pieces)
    previous: Row = []
    in_table = [_aligned(one, other) for one, other in pairwise(block)]
    for index, row in enumerate(block):
        is_table = (index > 0 and in_table[index - 1]) or (index < len(in_table) and in_table[index])
        if (
            previous
            and _distance(previous, row) > 0.8 * max(piece.height for piece in row)
            and not (is_table and in_table[index - 1])
        ):
            lines.append("")
        cells = [piece.text for piece in row]
        lines.append(f"| {' | '.join(cells)} |" if is_table else "  ".join(cells))
        previous = row
    return lines


def _distance(upper: Row, lower: Row) -> float:
    return min(piece.bottom for piece in upper) - max(piece.top for piece in lower)


def _aligned(one: Row, other: Row) -> bool:
    """Whether two rows look like rows of one table: two or more cells that begin or end at the same place."""
    if len(one) < 2 or len(other) < 2:
        return False
    near = 0.5 * one[0].height
    shared = sum(
        any(abs(cell.left - below.left) < near or abs(cell.right - below.right) < near for below in other)
        for cell in one
    )
    return shared >= 2
