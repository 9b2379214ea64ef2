"""EPUB: the chapters in reading order, each converted like a page of HTML."""

from __future__ import annotations

from typing import Any
from zipfile import ZipFile

from pgcontext.documents.extract.archive import open_archive, parse, read_member, target
from pgcontext.documents.extract.html import read_html
from pgcontext.documents.extract.result import Content, ExtractionFailed, check_length
from pgcontext.documents.extract.titles import tidy

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_CHAPTERS = ("application/xhtml+xml", "text/html")


def read_epub(content: bytes) -> Content:
    """The text of the chapters on the book's spine."""
    with open_archive(content) as archive:
        package = _package_name(archive)
        root = parse(read_member(archive, package))
        chapters = _chapters(root, package)
        _refuse_encrypted(archive, chapters)
        texts: list[str] = []
        for chapter in chapters:
            texts.append(read_html(read_member(archive, chapter)).text)
            check_length(sum(map(len, texts)))
    title = root.find(f".//{_TITLE}")
    return Content("\n\n".join(text for text in texts if text), tidy(title.text) if title is not None else None)


def _package_name(archive: ZipFile) -> str:
    for element in parse(read_member(archive, _CONTAINER)).iter("{*}rootfile"):
        if path := element.get("full-path"):
            return str(path)
    raise ExtractionFailed("broken", "The book is damaged: it names no contents")


def _chapters(root: Any, package: str) -> list[str]:
    items = {
        item.get("id"): target(package, item.get("href") or "")
        for item in root.iter(f"{_OPF}item")
        if item.get("media-type") in _CHAPTERS
    }
    order = [items[entry.get("idref")] for entry in root.iter(f"{_OPF}itemref") if entry.get("idref") in items]
    return list(dict.fromkeys(order))


def _refuse_encrypted(archive: ZipFile, chapters: list[str]) -> None:
    if _ENCRYPTION not in archive.namelist():
        return
    locked = {
        element.get("URI") for element in parse(read_member(archive, _ENCRYPTION)).iter("{*}CipherReference")
    }
    if locked.intersection(chapters):
        raise ExtractionFailed("encrypted", "The book is encrypted (DRM)")
