"""XLSX: every sheet as a table, with the values that formulas had when the file was saved."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from pgcontext.documents.extract.archive import open_archive
from pgcontext.documents.extract.result import Content, ExtractionFailed, check_length
from pgcontext.documents.extract.titles import tidy

# A sheet can name cells far apart; the empty ones between them take time.
_MOST_CELLS = 20_000_000


def read_sheets(content: bytes) -> Content:
    """A heading and the rows of each sheet; empty rows, and empty cells at the end of rows, are left out."""
    import openpyxl

    open_archive(content).close()
    book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True, keep_links=False)
    try:
        lines: list[str] = []
        length = 0
        for line in _lines(book):
            lines.append(line)
            length += len(line) + 1
            check_length(length)
        return Content("\n".join(lines).strip("\n"), tidy(book.properties.title))
    finally:
        book.close()


def _lines(book: Any) -> Iterator[str]:
    visited = 0
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        first = True
        for row in sheet.iter_rows(values_only=True):
            visited += len(row) + 1
            if visited > _MOST_CELLS:
                raise ExtractionFailed("too_large", "The sheets have too many cells")
            cells = [_shown(value) for value in row]
            while cells and not cells[-1]:
                cells.pop()
            if not cells:
                continue
            if first:
                yield from ["", f"## {sheet.title}", ""]
            yield f"| {' | '.join(cells)} |"
            if first:
                yield "|" + " --- |" * len(cells)
            first = False


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time | timedelta):
        return str(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return " ".join(str(value).split())
