"""PDF: reading order, running headers, tables, and clear refusals."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.coverage import coverage
from documents.files import Line, pdf
from documents.outcomes import fault_of
from pgcontext.documents.extract import extract

WORDS = "a an the what which storage decides caller reads answers equal backends server stops goes on".split()  # noqa: SIM905


def prose(seed: int, count: int, characters: int = 40) -> list[str]:
    """Lines of nearly this length, all different."""
    rng = random.Random(seed)
    lines: list[str] = []
    for number in range(count):
        line = f"{seed}.{number}"
        while len(line) < characters - max(map(len, WORDS)):
            line += " " + rng.choice(WORDS)
        lines.append(line)
    return lines


def column(lines: Sequence[str], x: float, top: float = 700) -> list[Line]:
    return [Line(text, x, top - 12 * index) for index, text in enumerate(lines)]


def interleaved(*columns: list[Line]) -> list[Line]:
    """Line by line over all columns, as many programs draw them."""
    return sorted((line for lines in columns for line in lines), key=lambda line: -line.y)


def assert_in_order(text: str, lines: Sequence[str]) -> None:
    places = [text.index(line) for line in lines]
    assert places == sorted(places)


@pytest.mark.parametrize("draw", [interleaved, lambda *columns: [line for lines in columns for line in lines]])
def test_two_columns_are_read_one_after_the_other(draw) -> None:  # type: ignore[no-untyped-def]
    left, right = prose(1, 30), prose(2, 30)
    document = extract(pdf([draw(column(left, 72), column(right, 320))]), "a.pdf")
    assert_in_order(document.text, [*left, *right])
    assert "|" not in document.text


def test_three_columns_are_read_one_after_the_other() -> None:
    parts = [prose(seed, 25, 24) for seed in (1, 2, 3)]
    drawn = interleaved(*(column(lines, 50 + 180 * index) for index, lines in enumerate(parts)))
    assert_in_order(extract(pdf([drawn]), "a.pdf").text, [line for lines in parts for line in lines])


def test_what_stands_across_the_columns_parts_them() -> None:
    title = Line("A Title That Goes Over Both of the Columns", 120, 750, 18)
    above_left, above_right = prose(1, 12), prose(2, 12)
    middle = Line("A full line of text between the columns above and those that come below it, wide", 72, 520)
    below_left, below_right = prose(3, 12), prose(4, 12)
    drawn = interleaved(
        [title, middle],
        column(above_left, 72),
        column(above_right, 320),
        column(below_left, 72, 490),
        column(below_right, 320, 490),
    )
    document = extract(pdf([drawn]), "a.pdf")
    assert_in_order(document.text, [title.text, *above_left, *above_right, middle.text, *below_left, *below_right])
    assert document.title == title.text


def test_tables_are_kept_as_rows() -> None:
    rows = [("Tool", "Limit", "Default"), *((f"tool_{n}", str(n * 10), f"value {n}") for n in range(1, 9))]
    drawn = [
        Line(cell, 72 + 150 * index, 600 - 14 * number)
        for number, row in enumerate(rows)
        for index, cell in enumerate(row)
    ]
    lines = extract(pdf([[*column(prose(1, 5, 80), 72), *drawn]]), "a.pdf").text.splitlines()
    assert [line for line in lines if line.startswith("|")] == [f"| {' | '.join(row)} |" for row in rows]


def book(pages: int) -> list[list[Line]]:
    return [
        [
            Line("The Handbook", 72, 760),
            *column(prose(number, 20, 80), 72),
            Line(f"Page {number} of {pages}", 280, 40),
        ]
        for number in range(1, pages + 1)
    ]


def test_running_headers_and_page_numbers_are_left_out_after_their_first_time_and_reported() -> None:
    document = extract(pdf(book(7)), "a.pdf")
    assert document.text.count("The Handbook") == 1
    assert [f"Page {number} of 7" in document.text for number in (1, 2, 7)] == [True, False, False]
    assert document.warnings == (
        "12 repeated headers, footers or page numbers were left out after their first time",
    )


def test_numbers_at_the_edge_of_pages_that_do_not_count_them_are_kept() -> None:
    figures = random.Random(4).sample(range(1000, 9999), 10)
    pages = [
        [*column(prose(number, 20, 80), 72), Line(str(figure), 72, 40)] for number, figure in enumerate(figures)
    ]
    text = extract(pdf(pages), "a.pdf").text
    assert all(str(figure) in text for figure in figures)


def test_a_line_on_two_pages_is_no_running_header() -> None:
    document = extract(pdf(book(2)), "a.pdf")
    assert document.text.count("The Handbook") == 2
    assert document.warnings == ()


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_turned_pages_are_read(rotate: int) -> None:
    lines = prose(1, 20, 60)
    assert_in_order(extract(pdf([column(lines, 72)], rotate=rotate), "a.pdf").text, lines)


def test_the_title_is_the_documents_own_then_the_largest_line_then_the_name() -> None:
    body = column(prose(1, 10), 72)
    heading = Line("Large Heading", 72, 740, 20)
    assert extract(pdf([[heading, *body]], title="Own Title"), "name.pdf").title == "Own Title"
    assert extract(pdf([[heading, *body]], title="Microsoft Word - x.doc"), "name.pdf").title == "Large Heading"
    assert extract(pdf([body]), "name.pdf").title == "name"


def test_an_encrypted_file_says_so() -> None:
    assert fault_of(pdf([column(prose(1, 5), 72)], encrypted=True), "a.pdf") == "encrypted"


def test_a_file_without_text_is_scanned_and_never_an_empty_success() -> None:
    assert fault_of(pdf([[], []]), "a.pdf") == "scanned"


def test_pages_without_text_among_others_are_named() -> None:
    document = extract(pdf([column(prose(1, 5), 72), [], column(prose(2, 5), 72)]), "a.pdf")
    assert document.warnings == ("No text on page 2: scanned, drawn or blank",)


def test_what_is_no_pdf_is_broken() -> None:
    assert fault_of(b"%PDF-1.7\nnothing", "a.pdf") == "broken"
    assert fault_of(b"some text", "a.pdf") == "broken"
    assert fault_of(pdf([]), "a.pdf") == "broken"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_give_text_or_a_clear_refusal(data: st.DataObject) -> None:
    whole = pdf(book(3), title="T")
    content = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 20))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    assert fault_of(bytes(content), "a.pdf") in (None, "broken", "scanned", "encrypted")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(
            st.builds(
                Line,
                st.from_regex(r"[A-Za-z0-9]{1,12}( [A-Za-z0-9]{1,12}){0,8}", fullmatch=True),
                st.integers(20, 400),
                st.integers(20, 770),
                st.sampled_from([8, 10, 14]),
            ),
            min_size=1,
            max_size=60,
            unique_by=lambda line: line.y // 15,
        ),
        min_size=1,
        max_size=2,
    )
)
def test_no_layout_loses_text(pages: list[list[Line]]) -> None:
    source = " ".join(line.text for page in pages for line in page)
    assert coverage(source, extract(pdf(pages), "a.pdf").text) == 1
