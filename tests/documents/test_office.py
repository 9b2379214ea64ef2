"""DOCX, PPTX, XLSX and EPUB: everything they say, and refusals of what is locked, damaged or a bomb."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.files import archive, changed, epub
from documents.outcomes import fault_of, outcome
from pgcontext.documents.extract import extract

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def saved(document: Any) -> bytes:
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def letter() -> Any:
    """A Word document with something of everything."""
    document = docx.Document()
    document.core_properties.title = ""
    document.sections[0].header.paragraphs[0].text = "Confidential header"
    document.sections[0].footer.paragraphs[0].text = "Footer text"
    document.add_heading("Access rules", 0)
    document.add_heading("Who may read", 2)
    document.add_paragraph("First paragraph with a tab\there.")
    document.add_paragraph("apples", style="List Bullet")
    document.add_paragraph("pears", style="List Bullet")
    document.add_paragraph("step one", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("Name", "Limit", "max_size", "10 MB"), strict=True):
        cell.text = text
    table.cell(1, 1).add_table(rows=1, cols=1).cell(0, 0).text = "nested"
    document.add_paragraph("After the table.")
    return document


def sheets() -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    first.title = "Limits"
    first.append(["Name", "Value"])
    first.append(["max_size", 10])
    first.append([None, 2.5])
    book.create_sheet("Second")["C3"] = "far away"
    return saved(book)


def slides() -> bytes:
    show = pptx.Presentation()
    for title in ("Opening", "Second slide"):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"Body of {title}"
    table = slide.shapes.add_table(2, 2, 0, 0, 100, 100).table
    table.cell(0, 0).text, table.cell(1, 1).text = "Head", "Cell"
    slide.notes_slide.notes_text_frame.text = "Say hello"
    return saved(show)


def books() -> bytes:
    return epub({"b.xhtml": "<h1>One</h1><p>First chapter.</p>", "a.xhtml": "<h1>Two</h1><p>Second.</p>"})


def test_a_word_document_keeps_its_headings_lists_tables_header_and_footer() -> None:
    document = extract(saved(letter()), "letter.docx")
    assert document.title == "Access rules"
    assert document.text == (
        "Confidential header\n\n# Access rules\n\n## Who may read\n\nFirst paragraph with a tab\there.\n\n"
        "- apples\n- pears\n1. step one\n\n| Name | Limit |\n| --- | --- |\n| max_size | 10 MB nested |\n\n"
        "After the table.\n\nFooter text"
    )


def test_a_word_documents_own_title_comes_first() -> None:
    document = letter()
    document.core_properties.title = "Own Title"
    assert extract(saved(document), "letter.docx").title == "Own Title"
    empty = docx.Document()
    empty.core_properties.title = ""
    empty.add_paragraph("Only text")
    assert extract(saved(empty), "letter.docx").title == "letter"


def test_footnotes_insertions_links_text_boxes_and_controls_are_text_and_deletions_are_not() -> None:
    body = (
        '<w:p><w:r><w:t>See</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        "<w:ins><w:r><w:t> inserted</w:t></w:r></w:ins><w:del><w:r><w:delText> deleted</w:delText></w:r></w:del>"
        "<w:hyperlink><w:r><w:t> linked</w:t></w:r></w:hyperlink>"
        "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    content = saved(docx.Document())
    with zipfile.ZipFile(BytesIO(content)) as zipped:
        relations = zipped.read("word/_rels/document.xml.rels").decode()
        types = zipped.read("[Content_Types].xml").decode()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    content = changed(
        content,
        {
            "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>',
            "word/footnotes.xml": f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2"><w:p><w:r>'
            "<w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
            "word/_rels/document.xml.rels": relations.replace(
                "</Relationships>",
                f'<Relationship Id="rIdF" Type="{kind}" Target="footnotes.xml"/></Relationships>',
            ),
            "[Content_Types].xml": types.replace(
                "</Types>", '<Override PartName="/word/footnotes.xml" ContentType="application/xml"/></Types>'
            ),
        },
    )
    assert extract(content, "a.docx").text == "See[^2] inserted linked\nboxed\n\ncontrolled\n\n[^2]: A note."


def test_a_workbook_becomes_one_table_per_sheet() -> None:
    assert extract(sheets(), "limits.xlsx").text == (
        "## Limits\n\n| Name | Value |\n| --- | --- |\n| max_size | 10 |\n|  | 2.5 |\n\n"
        "## Second\n\n|  |  | far away |\n| --- | --- | --- |"
    )


def test_slides_keep_their_titles_text_tables_and_notes_in_order() -> None:
    document = extract(slides(), "show.pptx")
    assert document.title == "Opening"
    wanted = [
        "## Opening",
        "Body of Opening",
        "## Second slide",
        "| Head |  |",
        "|  | Cell |",
        "Notes:",
        "Say hello",
    ]
    places = [document.text.index(part) for part in wanted]
    assert places == sorted(places)


def test_a_book_is_read_along_its_spine() -> None:
    document = extract(books(), "book.epub")
    assert document.title == "A Book"
    assert document.text == "# One\n\nFirst chapter.\n\n# Two\n\nSecond."


def test_locked_documents_say_so() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert fault_of(ole + "EncryptedPackage".encode("utf-16-le"), "a.docx") == "encrypted"
    assert fault_of(ole, "a.docx") == "unsupported"
    assert fault_of(epub({"a.xhtml": "<p>x</p>"}, encrypted=["a.xhtml"]), "a.epub") == "encrypted"
    marked = bytearray(sheets())
    for place in (6, marked.index(b"PK\x01\x02") + 8):
        marked[place] |= 1
    assert fault_of(bytes(marked), "a.xlsx") == "encrypted"


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.epub"])
def test_what_is_no_such_file_is_broken(name: str) -> None:
    assert fault_of(b"plain text", name) == "broken"
    assert fault_of(archive({"x.txt": "x"}), name) == "broken"
    assert fault_of(saved(letter())[:5000], name) == "broken"


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.epub"])
def test_an_archive_that_unpacks_to_too_much_is_refused_unread(name: str) -> None:
    assert fault_of(archive({"word/document.xml": bytes(65 * 2**20)}), name) == "too_large"
    assert fault_of(archive({f"{index}": "" for index in range(20_001)}), name) == "too_large"


ENTITIES = (
    '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)


@pytest.mark.parametrize(
    "content, name, part",
    [
        (saved(letter()), "a.docx", "word/document.xml"),
        (slides(), "a.pptx", "ppt/slides/slide1.xml"),
        (sheets(), "a.xlsx", "xl/worksheets/sheet1.xml"),
        (books(), "a.epub", "OEBPS/book.opf"),
    ],
)
def test_entities_are_not_expanded_and_files_not_read(content: bytes, name: str, part: str) -> None:
    with zipfile.ZipFile(BytesIO(content)) as zipped:
        xml = zipped.read(part).decode()
    body = xml[xml.index("?>") + 2 :] if xml.startswith("<?") else xml
    outside = '<!DOCTYPE w [<!ENTITY i SYSTEM "file:///etc/passwd">]>'
    for doctype in (ENTITIES, outside):
        bomb = doctype + body.replace("</", "&i;</", 1)
        fault, text = outcome(changed(content, {part: bomb}), name)
        assert fault in (None, "broken")
        assert "root:" not in text
        assert len(text) < 10_000


def test_cells_far_apart_and_repeated_strings_stay_bounded() -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "first", "last"
    assert "last" in extract(saved(book), "a.xlsx").text
    rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 2000))
    wide = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData>'
    content = changed(sheets(), {"xl/worksheets/sheet1.xml": wide + "</worksheet>"})
    assert fault_of(content, "a.xlsx") == "too_large"


def test_tables_nested_without_end_are_read_or_refused() -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 5000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 5000
    content = changed(
        saved(letter()), {"word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{deep}</w:body></w:document>'}
    )
    assert fault_of(content, "a.docx") == "broken"


WHOLE = {"a.docx": saved(letter()), "a.pptx": slides(), "a.xlsx": sheets(), "a.epub": books()}


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_damaged_files_give_text_or_a_clear_refusal(name: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[name])
    for _ in range(data.draw(st.integers(1, 30))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(content[: data.draw(st.integers(1, len(content)))])
    assert fault_of(cut, name) in (None, "broken", "encrypted", "too_large", "unsupported", "binary", "encoding")
