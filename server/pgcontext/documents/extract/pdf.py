"""PDF: the text layer in reading order, without the running headers and footers after their first time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from ctypes import byref
from typing import Any

from pgcontext.documents.extract.layout import SOFT_HYPHEN, Piece, join_words, page_text
from pgcontext.documents.extract.result import Content, ExtractionFailed, check_length
from pgcontext.documents.extract.running import RunningLines
from pgcontext.documents.extract.titles import tidy

# Pages whose headers are compared with one another, and whose boxes are in memory at a time.
_WINDOW = 200
_MOST_PAGES = 20_000
# A page with more characters than this is read in the order of the file: its layout would take too long.
_MOST_CHARACTERS = 200_000
_NO_TITLES = ("untitled", "microsoft word -", "microsoft powerpoint -", "powerpoint presentation", "slide 1")
_SHOWN_PAGES = 10


def read_pdf(content: bytes) -> Content:
    """The text of every page, pages parted by an empty line."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise _refusal(error) from None
    try:
        return _read(document)
    except pypdfium2.PdfiumError as error:
        raise ExtractionFailed("broken", f"The PDF is damaged: {error}") from None
    finally:
        document.close()


def _refusal(error: Exception) -> ExtractionFailed:
    import pypdfium2.raw as pdfium

    if getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
        return ExtractionFailed("encrypted", "The PDF is encrypted and needs a password")
    return ExtractionFailed("broken", "The PDF is damaged or no PDF")


def _read(document: Any) -> Content:
    if len(document) > _MOST_PAGES:
        raise ExtractionFailed("too_large", f"The PDF has more than {_MOST_PAGES} pages")
    running = RunningLines()
    texts: list[str] = []
    empty: list[int] = []
    broken: list[int] = []
    heading: str | None = None
    for start in range(0, len(document), _WINDOW):
        numbers = range(start, min(start + _WINDOW, len(document)))
        pages = [_read_page(document, number, broken) for number in numbers]
        if start == 0 and pages:
            heading = _largest(pages[0][0])
        empty += [
            number + 1
            for number, (pieces, loose) in zip(numbers, pages, strict=True)
            if not pieces and not loose and number + 1 not in broken
        ]
        kept = running.remove(start + 1, [pieces for pieces, _ in pages])
        for pieces, (_, loose) in zip(kept, pages, strict=True):
            texts.append("\n".join(part for part in (page_text(pieces), loose) if part))
        check_length(sum(map(len, texts)))
    text = "\n\n".join(part for part in texts if part)
    if not text.strip():
        _refuse_empty(document, broken)
    title = _own_title(document) or heading
    return Content(text, title, tuple(_warnings(text, empty, broken, running.dropped)))


def _refuse_empty(document: Any, broken: list[int]) -> None:
    if broken:
        raise ExtractionFailed("broken", "No page of the PDF can be read")
    if len(document):
        raise ExtractionFailed(
            "scanned", "The PDF has no text, only images or drawings; it needs text recognition (OCR) first"
        )
    raise ExtractionFailed("broken", "The PDF has no pages")


def _own_title(document: Any) -> str | None:
    title = tidy(document.get_metadata_value("Title"))
    return None if title is None or title.lower().startswith(_NO_TITLES) else title


def _warnings(text: str, empty: list[int], broken: list[int], dropped: int) -> Iterator[str]:
    if empty:
        yield f"No text on {_pages(empty)}: scanned, drawn or blank"
    if broken:
        yield f"Damaged and not read: {_pages(broken)}"
    if dropped:
        yield f"{dropped} repeated headers, footers or page numbers were left out after their first time"
    unmapped = sum(character == "\ufffd" or "\ue000" <= character <= "\uf8ff" for character in text)
    if unmapped * 20 > len(text):
        yield f"{unmapped} characters have no Unicode in the PDF and cannot be read"


def _pages(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN_PAGES]))
    more = len(numbers) - _SHOWN_PAGES
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}" + (f" and {more} more" if more > 0 else "")


def _largest(pieces: list[Piece]) -> str | None:
    """The first line of the first page in the largest print, where that is larger than most."""
    if not pieces:
        return None
    sizes = sorted(piece.height for piece in pieces)
    largest, usual = sizes[-1], sizes[len(sizes) // 2]
    if largest < 1.15 * usual:
        return None
    lines = [piece for piece in pieces if piece.height > 0.95 * largest]
    together = [lines[0]]
    for piece in lines[1:4]:
        if 0 <= together[-1].bottom - piece.bottom < 2 * largest:
            together.append(piece)
    return tidy(" ".join(piece.text for piece in together).replace(SOFT_HYPHEN, "-"))


def _read_page(document: Any, number: int, broken: list[int]) -> tuple[list[Piece], str]:
    """The pieces of a page in its upright direction, and the text that stands in another direction."""
    import pypdfium2

    try:
        page = document[number]
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        broken.append(number + 1)
        return [], ""
    try:
        if text_page.count_chars() > _MOST_CHARACTERS:
            return [], str(text_page.get_text_range()).replace("\r\n", "\n")
        words = list(_words(text_page.raw))
    finally:
        text_page.close()
        page.close()
    if not words:
        return [], ""
    angle = Counter(turn for turn, _ in words).most_common(1)[0][0]
    pieces = join_words(_turn(word, angle) for turn, word in words if turn == angle)
    letters = sum(len(piece.text) == 1 for piece in pieces)
    loose = [word.text for turn, word in words if turn != angle]
    if letters > 0.6 * len(pieces) and letters > 20:  # letters set one by one, or writing from top to bottom
        return [], " ".join(word.text for _, word in words).replace(SOFT_HYPHEN, "-")
    return pieces, " ".join(loose).replace(SOFT_HYPHEN, "-")


def _words(text_page: Any) -> Iterator[tuple[int, Piece]]:
    """Every word with the angle at which it stands, in degrees, and its box; the order is that of the file."""
    import pypdfium2.raw as pdfium

    first, word = 0, ""
    for index in range(pdfium.FPDFText_CountChars(text_page) + 1):
        character = _character(pdfium.FPDFText_GetUnicode(text_page, index))
        if word and (not character or character.isspace() or word.endswith(SOFT_HYPHEN)):
            yield _placed(text_page, first, index - 1, word)
            word = ""
        if character and not character.isspace():
            first = first if word else index
            word += character


def _character(code: int) -> str:
    """A character of the text layer; pdfium gives U+0002 or U+FFFE where a word is divided."""
    if code in (0x02, 0xFFFE):
        return SOFT_HYPHEN
    return chr(code) if code >= 32 and code <= 0x10FFFF and code != 0x7F else ""


def _placed(text_page: Any, first: int, last: int, word: str) -> tuple[int, Piece]:
    import pypdfium2.raw as pdfium

    left = bottom = math.inf
    right = top = -math.inf
    box = pdfium.FS_RECTF()
    for index in {first, last}:
        if pdfium.FPDFText_GetLooseCharBox(text_page, index, byref(box)):
            left, right = min(left, box.left), max(right, box.right)
            bottom, top = min(bottom, box.bottom), max(top, box.top)
    if not all(map(math.isfinite, (left, bottom, right, top))):
        left = bottom = right = top = 0.0
    angle = round(math.degrees(pdfium.FPDFText_GetCharAngle(text_page, first)) / 15) * 15 % 360
    return angle, Piece(word, left, bottom, right, top)


def _turn(piece: Piece, angle: int) -> Piece:
    """The piece as it lies when the page is turned so that text at this angle stands upright."""
    if angle == 0:
        return piece
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    corners = [(x, y) for x in (piece.left, piece.right) for y in (piece.bottom, piece.top)]
    across = [x * cosine + y * sine for x, y in corners]
    up = [y * cosine - x * sine for x, y in corners]
    return Piece(piece.text, min(across), min(up), max(across), max(up))
