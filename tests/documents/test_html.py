"""HTML: the main content as Markdown, all of it."""

from __future__ import annotations

import pytest

from documents.outcomes import outcome
from pgcontext.documents.extract import extract

MENU = "<nav><a href='/'>Home</a> <a href='/about'>About us</a></nav>"
BODY = (
    "<h1>Guide</h1><p>Read the <a href='https://example.org/a?b=1&c=2'>manual</a> first, it is <b>short</b>.</p>"
    "<table><tr><th>Name</th><th>Limit</th></tr><tr><td>max_size</td><td>10</td></tr></table>"
    "<pre><code class='language-sh'>pgcontext serve --stdio\n  # indented</code></pre>"
    "<ul><li>one</li><li>two</li></ul>"
)


@pytest.mark.parametrize("tag", ["main", "article", "div role='main'"])
def test_the_main_content_is_taken_where_the_page_marks_it(tag: str) -> None:
    page = f"<title>T</title><body>{MENU}<{tag}>{BODY}</{tag.split()[0]}><footer>Imprint</footer>"
    text = extract(page.encode(), "a.html").text
    assert "About us" not in text
    assert "Imprint" not in text
    assert text.startswith("# Guide")


def test_links_tables_code_and_lists_are_kept() -> None:
    text = extract(f"<body>{BODY}</body>".encode(), "a.html").text
    assert "[manual](https://example.org/a?b=1&c=2)" in text
    assert "| max_size | 10 |" in text
    assert "pgcontext serve --stdio\n  # indented" in text
    assert "- one\n- two" in text


def test_the_whole_body_is_taken_where_nothing_is_marked() -> None:
    text = extract(f"<body><p>Intro</p>{BODY}<p>Outro</p></body>".encode(), "a.html").text
    assert text.startswith("Intro")
    assert text.endswith("Outro")


def test_a_small_or_repeated_article_is_not_the_page() -> None:
    teaser = f"<body><article>Teaser</article>{BODY}</body>"
    assert "Guide" in extract(teaser.encode(), "a.html").text
    several = "<body><article>First</article><article>Second</article></body>"
    assert "Second" in extract(several.encode(), "a.html").text


def test_scripts_and_styles_are_no_text() -> None:
    text = extract(b"<style>p{color:red}</style><script>alert(1)</script><p>Text</p>", "a.htm").text
    assert text == "Text"


def test_inline_images_leave_their_description_only() -> None:
    page = f"<p>Before <img alt='a chart' src='data:image/png;base64,{'A' * 100_000}'> after</p>"
    text = extract(page.encode(), "a.html").text
    assert "a chart" in text
    assert len(text) < 100


def test_titles_are_the_pages_own_then_the_first_heading_then_the_name() -> None:
    assert extract(f"<title> My \n Page </title>{BODY}".encode(), "x.html").title == "My Page"
    assert extract(BODY.encode(), "x.html").title == "Guide"
    assert extract(b"<p>Text</p>", "x.html").title == "x"


@pytest.mark.parametrize(
    "declaration", ["<meta charset='{}'>", '<meta http-equiv=C content="text/html; charset={}">']
)
@pytest.mark.parametrize("encoding", ["iso-8859-2", "shift_jis", "gbk"])
def test_the_declared_encoding_is_used(declaration: str, encoding: str) -> None:
    word = {"iso-8859-2": "źdźbło", "shift_jis": "日本語", "gbk": "数据库"}[encoding]
    page = f"{declaration.format(encoding)}<p>{word}</p>".encode(encoding)
    assert extract(page, "a.html").text == word


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "ul", "table", "span"])
def test_markup_nested_without_end_is_read_or_refused(tag: str) -> None:
    page = f"<{tag}>" * 20_000 + "deep text" + f"</{tag}>" * 20_000
    fault, text = outcome(page.encode(), "a.html")
    assert fault == "broken" or "deep text" in text
