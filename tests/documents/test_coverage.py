"""Everything in real documents is extracted: their non-white-space characters are counted before and after."""

from __future__ import annotations

from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import docx
import pptx
import pytest
from markdown_it import MarkdownIt

from documents.coverage import coverage
from documents.files import Line, epub, pdf
from pgcontext.documents.extract import extract

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("sql/*.md")])
CODE = sorted([*ROOT.glob("server/pgcontext/*.py"), *ROOT.glob("sql/**/*.sql"), *ROOT.glob("*.toml")])
SYSTEM = Path("/usr/share/doc")
MOST = 60


class _Shown(HTMLParser):
    """The text of a page without what a browser never shows."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style", "title", "template", "noscript")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "title", "template", "noscript")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def shown(page: str) -> str:
    parser = _Shown()
    parser.feed(page)
    return " ".join(parser.parts)


def system_files(*patterns: str) -> list[Path]:
    """Documents that the system's packages brought, if there are any; the smaller ones, of every kind."""
    found = sorted(path for pattern in patterns for path in SYSTEM.glob(f"*/**/{pattern}") if path.is_file())
    return [path for path in found if path.stat().st_size < 2**20][:: max(len(found) // MOST, 1)]


def shares(files: list[Path]) -> dict[str, float]:
    assert files
    return {str(path): coverage(path.read_text("utf-8"), extract(path, path.name).text) for path in files}


def test_text_formats_keep_ninety_nine_percent() -> None:
    found = shares([*DOCS, *CODE])
    assert len(found) > 40
    assert {name: share for name, share in found.items() if share < 0.99} == {}


def test_text_of_system_packages_keeps_ninety_nine_percent() -> None:
    files = [*DOCS[:1], *system_files("*.txt", "*.md", "*.rst", "README", "copyright")]
    readable = [path for path in files if _is_utf_8(path)]
    assert {name: share for name, share in shares(readable).items() if share < 0.99} == {}


def _is_utf_8(path: Path) -> bool:
    try:
        path.read_text("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def test_html_keeps_ninety_nine_percent() -> None:
    pages = [MarkdownIt("commonmark").enable("table").render(path.read_text("utf-8")) for path in DOCS]
    found = [coverage(shown(page), extract(page.encode(), "a.html").text) for page in pages]
    assert min(found) >= 0.99


def test_html_of_system_packages_keeps_ninety_nine_percent_where_all_of_it_is_content() -> None:
    pages = [path.read_text("utf-8") for path in system_files("*.html") if _is_utf_8(path)]
    plain = [page for page in pages if not any(word in page for word in ("<main", "role=", "<nav", "<article"))]
    found = [coverage(shown(page), extract(page.encode(), "a.html").text) for page in [*plain, "<p>text</p>"]]
    assert min(found) >= 0.99


def lines_of(path: Path) -> list[str]:
    """The lines of a document in the characters that the fonts of a PDF have."""
    text = path.read_text("utf-8").encode("cp1252", "ignore").decode("cp1252")
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("path", DOCS[:12], ids=lambda path: path.name)
def test_other_formats_keep_ninety_seven_percent(path: Path) -> None:
    lines = lines_of(path)
    text = "\n".join(lines)
    for name, content in (("a.pdf", as_pdf(lines)), ("a.docx", as_docx(lines)), ("a.pptx", as_pptx(lines))):
        assert coverage(text, extract(content, name).text) >= 0.97, name
    chapters = {f"{n}.xhtml": MarkdownIt().render("\n".join(lines[n : n + 50])) for n in range(0, len(lines), 50)}
    pages = " ".join(map(shown, chapters.values()))
    assert coverage(pages, extract(epub(chapters), "a.epub").text) >= 0.97


def as_pdf(lines: list[str]) -> bytes:
    pages = [lines[start : start + 50] for start in range(0, len(lines), 50)]
    return pdf([Line(text, 40, 760 - 14 * index, 9) for index, text in enumerate(page)] for page in pages)


def as_docx(lines: list[str]) -> bytes:
    document = docx.Document()
    for line in lines:
        cells = line.strip("| ").split(" | ")
        if line.startswith("#"):
            document.add_heading(line, 2)
        elif len(cells) > 1:
            table = document.add_table(rows=1, cols=len(cells))
            for cell, text in zip(table._cells, cells, strict=True):
                cell.text = text
        else:
            document.add_paragraph(line)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def as_pptx(lines: list[str]) -> bytes:
    show = pptx.Presentation()
    for start in range(0, len(lines), 20):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = lines[start]
        slide.placeholders[1].text = "\n".join(lines[start + 1 : start + 20])
    out = BytesIO()
    show.save(out)
    return out.getvalue()
