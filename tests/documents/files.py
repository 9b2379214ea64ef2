"""Small files of every format, made with other libraries than those that read them, or by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO


@dataclass(frozen=True)
class Line:
    """A line of text on a page: its place in points from the lower left, and its size."""

    text: str
    x: float = 72
    y: float = 700
    size: float = 10


def pdf(
    pages: Iterable[Sequence[Line]], *, title: str | None = None, rotate: int = 0, encrypted: bool = False
) -> bytes:
    """A PDF in Helvetica whose content streams draw the lines in the order given."""
    streams = [_stream(page) for page in pages]
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(streams)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for index, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate {rotate} "
            f"/Resources << /Font << /F 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    trailer = "/Root 1 0 R"
    if title is not None:
        objects.append(f"<< /Title ({_escape(title)}) >>")
        trailer += f" /Info {len(objects)} 0 R"
    if encrypted:
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'01' * 16}> <{'01' * 16}>]"
    return _assemble(objects, trailer)


def _stream(page: Sequence[Line]) -> str:
    return "\n".join(
        f"BT /F {line.size} Tf 1 0 0 1 {line.x} {line.y} Tm ({_escape(line.text)}) Tj ET" for line in page
    )


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _assemble(objects: Sequence[str], trailer: str) -> bytes:
    out = BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252"))
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    for offset in offsets:
        out.write(f"{offset:010} 00000 n \n".encode())
    out.write(f"trailer << /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def archive(members: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of these files."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return out.getvalue()


def changed(content: bytes, members: Mapping[str, str | bytes]) -> bytes:
    """The archive with some files replaced or added."""
    with zipfile.ZipFile(BytesIO(content)) as zipped:
        old: dict[str, str | bytes] = {name: zipped.read(name) for name in zipped.namelist()}
    return archive({**old, **members})


def epub(chapters: Mapping[str, str], *, title: str = "A Book", encrypted: Iterable[str] = ()) -> bytes:
    """A book of XHTML chapters, in this order."""
    items = "".join(
        f'<item id="c{index}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for index, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{index}"/>' for index in range(len(chapters)))
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>",
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{
            f"OEBPS/text/{name}": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
            for name, body in chapters.items()
        },
    }
    if encrypted:
        references = "".join(f'<CipherReference URI="OEBPS/text/{name}"/>' for name in encrypted)
        members["META-INF/encryption.xml"] = f"<encryption>{references}</encryption>"
    return archive(members)
