"""Files that are ZIP archives of XML: opened only when what is inside is bounded, parsed without entities."""

from __future__ import annotations

import posixpath
import zipfile
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from pgcontext.documents.extract.result import ExtractionFailed

_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_MOST_MEMBERS = 20_000
_MOST_BYTES = 512 * 2**20
# A tree takes about ten times the bytes of its XML.
_MOST_XML_BYTES = 64 * 2**20
_MOST_XML_BYTES_TOGETHER = 192 * 2**20
_XML = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")


def open_archive(content: bytes) -> zipfile.ZipFile:
    """The archive. Raises `ExtractionFailed`: `encrypted`, `broken`, or `too_large` when unpacked.

    The sizes that an archive declares are what is ever read of it, so checking them is enough.
    """
    if content.startswith(_OLD_OFFICE):
        if _ENCRYPTED_PACKAGE in content:
            raise ExtractionFailed("encrypted", "The document is encrypted and needs a password")
        raise ExtractionFailed(
            "unsupported", "The document is in an old office format; save it in the current one"
        )
    try:
        archive = zipfile.ZipFile(BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise ExtractionFailed("broken", "The file is damaged: it is no complete archive") from None
    members = archive.infolist()
    if any(member.flag_bits & 1 for member in members):
        raise ExtractionFailed("encrypted", "The archive is encrypted and needs a password")
    xml = [member.file_size for member in members if member.filename.lower().endswith(_XML)]
    if (
        len(members) > _MOST_MEMBERS
        or sum(member.file_size for member in members) > _MOST_BYTES
        or sum(xml) > _MOST_XML_BYTES_TOGETHER
        or max(xml, default=0) > _MOST_XML_BYTES
    ):
        raise ExtractionFailed("too_large", "The file unpacks to more than can be read")
    return archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """One file of the archive; `ExtractionFailed` when it is missing or damaged."""
    try:
        return archive.read(name)
    except (KeyError, zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError):
        raise ExtractionFailed("broken", f"The file is damaged: '{name}' inside it cannot be read") from None
    except Exception as error:
        if type(error).__module__ in ("zlib", "lzma", "_lzma"):
            raise ExtractionFailed("broken", f"The file is damaged: '{name}' inside it cannot be read") from None
        raise


def parse(xml: bytes) -> Any:
    """The root of an XML tree; entities stay unexpanded and nothing outside is loaded."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        return etree.fromstring(xml, parser)
    except etree.XMLSyntaxError as error:
        raise ExtractionFailed(
            "broken", f"The file is damaged: its XML is not well-formed ({error.msg})"
        ) from None


def relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """What an office part refers to inside the archive: id -> kind (its last word) and name of the target."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if path not in archive.namelist():
        return {}
    return {
        relation.get("Id", ""): (
            relation.get("Type", "").rsplit("/", 1)[-1],
            target(part, relation.get("Target", "")),
        )
        for relation in parse(read_member(archive, path))
        if relation.get("TargetMode") != "External"
    }


def target(part: str, reference: str) -> str:
    """The name in the archive of what a part refers to."""
    path = unquote(reference.split("#", 1)[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), path)).lstrip("/")


def core_title(archive: zipfile.ZipFile) -> str | None:
    """The title in an office document's properties."""
    if "docProps/core.xml" not in archive.namelist():
        return None
    title: str | None = parse(read_member(archive, "docProps/core.xml")).findtext(
        "{http://purl.org/dc/elements/1.1/}title"
    )
    return title


def table_lines(table: list[list[str]]) -> list[str]:
    """A table as Markdown; the first row is its head."""
    width = max((len(row) for row in table), default=0)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in table]
    return [*lines[:1], "|" + " --- |" * width, *lines[1:]] if len(lines) > 1 else lines
