"""DOCX: headings, lists and tables as Markdown; headers before the text, footnotes and footers after it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from pgcontext.documents.extract.archive import open_archive, parse, table_lines
from pgcontext.documents.extract.result import Content
from pgcontext.documents.extract.titles import first_heading, tidy

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_SKIPPED = (f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr", _FALLBACK)
_DEEPEST = 6


def read_docx(content: bytes) -> Content:
    """The text of the body, in order, and of what surrounds it."""
    import docx

    open_archive(content).close()
    document = docx.Document(BytesIO(content))
    reader = _Reader(_heading_levels(document), _list_styles(document), _numbered_lists(document))
    headers, footers, notes = _surroundings(document, reader)
    parts = [*headers, "\n".join(reader.blocks(document.element.body)).strip("\n"), *notes, *footers]
    text = re.sub(r"\n{3,}", "\n\n", "\n\n".join(part for part in parts if part))
    warnings = () if text.strip() or not document.inline_shapes else ("The document holds only images",)
    title = tidy(document.core_properties.title)
    return Content(text, title or first_heading(text), warnings)


def _heading_levels(document: Any) -> dict[str, int]:
    """Style -> level, for headings and the document's title; the names are English in files of every language."""
    levels: dict[str, int] = {}
    for style in document.styles.element.iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        words = (name.get(f"{_W}val") or "" if name is not None else "").lower().split()
        if words[:1] == ["heading"] and words[1:] and words[1].isdigit():
            levels[style.get(f"{_W}styleId")] = min(int(words[1]), _DEEPEST)
        elif words == ["title"]:
            levels[style.get(f"{_W}styleId")] = 1
        elif outline is not None and (outline.get(f"{_W}val") or "9") < "6":
            levels[style.get(f"{_W}styleId")] = int(outline.get(f"{_W}val")) + 1
    return levels


def _list_styles(document: Any) -> dict[str, Any]:
    """Style -> its list and level, for styles that make list items."""
    return {
        style.get(f"{_W}styleId"): number
        for style in document.styles.element.iter(f"{_W}style")
        if (number := style.find(f"{_W}pPr/{_W}numPr")) is not None
    }


def _numbered_lists(document: Any) -> set[tuple[str, str]]:
    """The lists and levels, by their ids, whose items carry numbers."""
    try:
        numbering = document.part.numbering_part.element
    except (KeyError, NotImplementedError):
        return set()
    abstract = {
        (definition.get(f"{_W}abstractNumId"), level.get(f"{_W}ilvl"))
        for definition in numbering.iter(f"{_W}abstractNum")
        for level in definition.iter(f"{_W}lvl")
        if (kind := level.find(f"{_W}numFmt")) is not None and kind.get(f"{_W}val") not in ("bullet", "none")
    }
    return {
        (number.get(f"{_W}numId"), level)
        for number in numbering.iter(f"{_W}num")
        if (of := number.find(f"{_W}abstractNumId")) is not None
        for definition, level in abstract
        if definition == of.get(f"{_W}val")
    }


def _surroundings(document: Any, reader: _Reader) -> tuple[list[str], list[str], list[str]]:
    """Headers and footers, each text once, and foot- and endnotes with their numbers."""
    found: dict[str, list[str]] = {"header": [], "footer": [], "footnotes": [], "endnotes": []}
    for _, relation in sorted(document.part.rels.items()):
        kind = relation.reltype.rsplit("/", 1)[-1]
        if kind not in found or relation.is_external:
            continue
        root = parse(relation.target_part.blob)
        if kind in ("header", "footer"):
            text = "\n".join(reader.blocks(root)).strip("\n")
            if text not in found[kind]:
                found[kind].append(text)
        else:
            found[kind] += list(_notes(root, reader))
    return found["header"], found["footer"], [*found["footnotes"], *found["endnotes"]]


def _notes(root: Any, reader: _Reader) -> Iterator[str]:
    for note in root:
        text = " ".join(line.strip() for line in reader.blocks(note) if line.strip())
        if text:
            yield f"[^{note.get(f'{_W}id')}]: {text}"


class _Reader:
    """Turns the XML of a story (body, header, note) into lines."""

    def __init__(self, levels: dict[str, int], lists: dict[str, Any], numbered: set[tuple[str, str]]) -> None:
        self._levels = levels
        self._lists = lists
        self._numbered = numbered
        self._counts: dict[tuple[str, str], int] = defaultdict(int)

    def blocks(self, story: Any) -> Iterator[str]:
        """The lines of a story, an empty line between blocks except between the items of a list."""
        in_list = False
        for element in _block_elements(story):
            if element.tag == f"{_W}tbl":
                yield from ["", *table_lines(list(self._table(element))), ""]
                in_list = False
                continue
            text = _text_of(element).strip("\n")
            if text.strip():
                marker, is_item = self._marker(element)
                text = " ".join(text.split()) if marker.startswith("#") else text
                if not (is_item and in_list):
                    yield ""
                yield marker + text
                in_list = is_item

    def _marker(self, paragraph: Any) -> tuple[str, bool]:
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        name = style.get(f"{_W}val") if style is not None else ""
        if level := self._levels.get(name):
            return "#" * level + " ", False
        number = paragraph.find(f"{_W}pPr/{_W}numPr")
        if number is None:
            number = self._lists.get(name)
        return ("", False) if number is None else self._item(_value(number, "numId"), _value(number, "ilvl"))

    def _item(self, list_id: str, level: str) -> tuple[str, bool]:
        if list_id == "0":
            return "", False
        indent = "  " * (int(level) if level.isdigit() else 0)
        if (list_id, level) not in self._numbered:
            return f"{indent}- ", True
        self._counts[list_id, level] += 1
        return f"{indent}{self._counts[list_id, level]}. ", True

    def _table(self, table: Any) -> Iterator[list[str]]:
        for row in _rows(table):
            yield [
                " ".join(" ".join(self._cell(cell)).split())
                for cell in row.iter(f"{_W}tc")
                if next(cell.iterancestors(f"{_W}tr")) is row
            ]

    def _cell(self, cell: Any) -> Iterator[str]:
        for element in _block_elements(cell):
            if element.tag == f"{_W}tbl":
                for row in self._table(element):
                    yield "; ".join(part for part in row if part)
            else:
                yield _text_of(element)


def _value(number: Any, name: str) -> str:
    element = number.find(f"{_W}{name}")
    return (element.get(f"{_W}val") or "0") if element is not None else "0"


def _block_elements(story: Any) -> Iterator[Any]:
    """Paragraphs and tables of a story, also inside content controls and the like, none inside another."""
    for element in story:
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        elif element.tag not in _SKIPPED:
            yield from _block_elements(element)


def _rows(table: Any) -> Iterator[Any]:
    return (row for row in table.iter(f"{_W}tr") if next(row.iterancestors(f"{_W}tbl")) is table)


def _text_of(element: Any) -> str:
    """The text of a paragraph: runs, links, insertions, fields, formulas and text boxes, without deletions."""
    parts: list[str] = []
    for child in element:
        tag = child.tag
        if tag in (f"{_W}t", f"{_M}t"):
            parts.append(child.text or "")
        elif tag in _BREAKS:
            parts.append(_BREAKS[tag])
        elif tag in (f"{_W}footnoteReference", f"{_W}endnoteReference"):
            parts.append(f"[^{child.get(f'{_W}id')}]")
        elif tag == f"{_W}txbxContent":
            boxed = [_text_of(paragraph) for paragraph in child.iter(f"{_W}p")]
            parts.append("\n" + "\n".join(boxed) + "\n")
        elif tag not in _SKIPPED:
            parts.append(_text_of(child))
    return "".join(parts)
