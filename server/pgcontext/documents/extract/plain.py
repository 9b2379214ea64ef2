"""Text, Markdown, reStructuredText and source code: the file is the text."""

from __future__ import annotations

from pgcontext.documents.extract.encoding import decode
from pgcontext.documents.extract.result import Content
from pgcontext.documents.extract.titles import first_heading, front_matter_title


def read_text(content: bytes) -> Content:
    """The text as it is; a title where front matter or a heading in the text gives one."""
    text, warnings = decode(content)
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return Content(unified, front_matter_title(unified) or first_heading(unified), warnings)


def read_code(content: bytes) -> Content:
    """The text as it is; what looks like a heading in code is a comment, so there is no title."""
    text, warnings = decode(content)
    return Content(text, None, warnings)
