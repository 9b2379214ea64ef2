"""HTML to Markdown: the main content where the page marks it, the whole body where it does not."""

from __future__ import annotations

import re
from typing import Any

from pgcontext.documents.extract.encoding import decode
from pgcontext.documents.extract.result import Content, ExtractionFailed
from pgcontext.documents.extract.titles import first_heading, tidy

_DECLARED = re.compile(
    rb"(?:<meta[^>]{0,200}charset|<\?xml[^>]{0,100}encoding)\s*=\s*[\"']?([\w-]{2,40})", re.IGNORECASE
)
_MAIN = ("//main", "//*[@role='main']", "//article")
_FURNITURE = "//script|//style|//template|//noscript|//nav|//head|//body/header|//body/footer"
# Main content that holds less than this share of the page's text is not what the page is about.
_LEAST_SHARE = 0.5
_MARKERS_OF_LINKS = ["a.headerlink", "a.anchorjs-link"]


def read_html(content: bytes) -> Content:
    """The page as Markdown with links, tables and code; its title is the page's own."""
    declared = _DECLARED.search(content[:4096])
    markup, warnings = decode(content, declared[1].decode("ascii") if declared else None)
    return convert(markup, warnings)


def convert(markup: str, warnings: tuple[str, ...] = ()) -> Content:
    """Markup that is already text, as `read_html` returns it."""
    from html_to_markdown import ConversionOptions, HiddenContent, InlineDataMedia
    from html_to_markdown import convert as to_markdown

    page_title, main = _main_content(markup)
    options = ConversionOptions(
        extract_metadata=False,
        hidden_content=HiddenContent.REACHABLE,
        inline_data_media=InlineDataMedia.ALT_TEXT_ONLY,
        compact_tables=True,
        exclude_selectors=_MARKERS_OF_LINKS,
    )
    result = to_markdown(main, options)
    if any("depth" in str(warning.kind).lower() for warning in result.warnings):
        raise ExtractionFailed("broken", "The markup is nested too deeply to be read")
    text = (result.content or "").strip()
    return Content(text, page_title or first_heading(text), warnings)


def _main_content(markup: str) -> tuple[str | None, str]:
    """The page's title, and the markup of its main content or all of it."""
    from lxml import etree
    from lxml import html as parser

    if not markup.strip():
        return None, ""
    try:
        tree = parser.document_fromstring(markup.encode(errors="replace"), parser.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, ValueError):
        return None, markup
    title = tidy(tree.findtext(".//title"))
    main: list[Any] = next((found for path in _MAIN if (found := tree.xpath(path))), [])
    if len(main) != 1:
        return title, markup
    part = etree.tostring(main[0], encoding="unicode", method="html", with_tail=False)
    whole = _characters(tree) - sum(_characters(element) for element in tree.xpath(_FURNITURE))
    return title, part if _characters(main[0]) >= _LEAST_SHARE * whole else markup


def _characters(element: Any) -> int:
    return len("".join(str(element.xpath("string()")).split()))
