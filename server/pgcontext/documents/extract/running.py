"""Running headers and footers: lines at the edge of pages that say the same, but for the page's number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from pgcontext.documents.extract.layout import Piece, Row, rows

_LEAST_PAGES = 3
_DEPTH = 2
_SAME_PLACE = 6.0
_NUMBER = re.compile(r"\d{1,5}")

Place = tuple[str, str]


class RunningLines:
    """Knows which lines at the edges of pages repeat; the first of each is kept, so no text is lost."""

    def __init__(self) -> None:
        self.dropped = 0
        self._kept: set[Place] = set()

    def remove(self, first_page: int, pages: Sequence[list[Piece]]) -> list[list[Piece]]:
        """The pages, numbered from `first_page`, without the repeated lines at their edges."""
        edges = [dict(_edges(rows(page))) for page in pages]
        repeated = self._repeated(first_page, edges)
        return [
            self._without(page, number, edge, repeated)
            for number, (page, edge) in enumerate(zip(pages, edges, strict=True), first_page)
        ]

    def _repeated(self, first_page: int, edges: Sequence[dict[tuple[str, int], Row]]) -> set[Place]:
        heights: dict[Place, dict[int, float]] = defaultdict(dict)
        for number, edge in enumerate(edges, first_page):
            for (side, _), row in edge.items():
                for key in _keys(row, number):
                    heights[side, key][number] = row[0].bottom
        return {
            place
            for place, found in heights.items()
            if len(found) >= _LEAST_PAGES and max(found.values()) - min(found.values()) <= _SAME_PLACE
        }

    def _without(
        self, page: list[Piece], number: int, edge: dict[tuple[str, int], Row], repeated: set[Place]
    ) -> list[Piece]:
        gone: set[int] = set()
        for side in ("top", "bottom"):
            for depth in range(_DEPTH):
                row = edge.get((side, depth), [])
                places = [(side, key) for key in _keys(row, number) if (side, key) in repeated] if row else []
                if not places:
                    break
                if self._kept.isdisjoint(places):
                    self._kept.update(places)
                    continue
                self.dropped += 1
                gone.update(id(piece) for piece in row)
        return [piece for piece in page if id(piece) not in gone]


def _edges(lines: Sequence[Row]) -> Iterator[tuple[tuple[str, int], Row]]:
    depth = min(_DEPTH, len(lines) // 2)
    for index in range(depth):
        yield ("top", index), lines[index]
        yield ("bottom", index), lines[-1 - index]


def _keys(row: Row, page: int) -> Iterator[str]:
    """What the line says, and what it says when one of its numbers is the page's, counted from any start."""
    text = " ".join(piece.text for piece in row)
    if len(text) > 300:
        return
    yield text
    for number in _NUMBER.finditer(text):
        yield f"{text[: number.start()]}\x00{int(number[0]) - page}\x00{text[number.end() :]}"
