"""PPTX: slide after slide, each with its title, text, tables and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from pgcontext.documents.extract.archive import (
    core_title,
    open_archive,
    parse,
    read_member,
    relations,
    table_lines,
)
from pgcontext.documents.extract.result import Content
from pgcontext.documents.extract.titles import first_heading, tidy

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_PRESENTATION = "ppt/presentation.xml"
_TITLES = ("title", "ctrTitle")
_NOT_CONTENT = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read_pptx(content: bytes) -> Content:
    """The text of all slides in the order of the show."""
    with open_archive(content) as archive:
        parts = relations(archive, _PRESENTATION)
        presentation = parse(read_member(archive, _PRESENTATION))
        slides = [
            "\n".join(_slide(archive, parts[slide.get(f"{_R}id")][1]))
            for slide in presentation.iter(f"{_P}sldId")
            if slide.get(f"{_R}id") in parts
        ]
        text = re.sub(r"\n{3,}", "\n\n", "\n\n".join(slide for slide in slides if slide.strip())).strip("\n")
        title = tidy(core_title(archive))
    return Content(text, None if title == "PowerPoint Presentation" else title or first_heading(text))


def _slide(archive: ZipFile, name: str) -> Iterator[str]:
    yield from _lines(parse(read_member(archive, name)))
    for kind, notes in relations(archive, name).values():
        if kind == "notesSlide":
            lines = list(_lines(parse(read_member(archive, notes))))
            if any(lines):
                yield from ["", "Notes:", *lines]


def _lines(slide: Any) -> Iterator[str]:
    for shape in slide.iter(f"{_P}sp", f"{_A}tbl"):
        if shape.tag == f"{_A}tbl":
            yield from ["", *table_lines([_row(row) for row in shape.iter(f"{_A}tr")]), ""]
            continue
        holder = shape.find(f".//{_P}ph")
        kind = holder.get("type", "body") if holder is not None else "body"
        if kind in _NOT_CONTENT:
            continue
        paragraphs = [text for paragraph in shape.iter(f"{_A}p") if (text := _text(paragraph).strip())]
        if kind in _TITLES and paragraphs:
            yield from [f"## {' '.join(' '.join(paragraphs).split())}", ""]
        else:
            yield from paragraphs


def _row(row: Any) -> list[str]:
    return [
        " ".join("\n".join(_text(part) for part in cell.iter(f"{_A}p")).split()) for cell in row.iter(f"{_A}tc")
    ]


def _text(paragraph: Any) -> str:
    return "".join(
        "\n" if part.tag == f"{_A}br" else part.text or "" for part in paragraph.iter(f"{_A}t", f"{_A}br")
    )
