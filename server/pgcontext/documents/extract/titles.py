"""Titles that a text carries itself: front matter and first headings."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_MAX_LENGTH = 300
_HEAD = 64 * 1024
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r"([=\-~`:'\"^_*+#<>.])\1*[ \t]*")
_MARKUP = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)|[*`]+|<[^>\n]*>")


def tidy(title: str | None) -> str | None:
    """A title on one line and of bounded length; None when nothing is left."""
    if not title:
        return None
    return " ".join(title[: 10 * _MAX_LENGTH].replace("\x00", " ").split())[:_MAX_LENGTH].strip() or None


def front_matter_title(text: str) -> str | None:
    """The title that YAML or TOML front matter gives."""
    front = _FRONT_MATTER.match(text[:_HEAD])
    found = _FRONT_TITLE.search(front[2]) if front else None
    return tidy(found[1].strip().strip("\"'")) if found else None


def first_heading(text: str) -> str | None:
    """The first heading in Markdown or reStructuredText, outside front matter and code, without its markup."""
    head = text[:_HEAD]
    front = _FRONT_MATTER.match(head)
    lines = head[front.end() if front else 0 :].split("\n")
    fence = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if opening := _FENCE.match(line):
            if not fence:
                fence = opening[1]
            elif line.strip().startswith(fence):
                fence = ""
        elif not fence and (heading := _heading(line, following)):
            return heading
    return None


def _heading(line: str, following: str) -> str | None:
    if found := _ATX.fullmatch(line):
        return tidy(_MARKUP.sub(r"\1", found[1]))
    title = line.strip()
    underlined = _UNDERLINE.fullmatch(following) and len(following.strip()) >= max(3, len(title) - 1)
    if underlined and re.search(r"\w", title) and not title.startswith(("|", "-", "*", "+", ">")):
        return tidy(_MARKUP.sub(r"\1", title))
    return None


def title_from_name(name: str) -> str:
    """What a file's name says: its last part without the suffix."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return tidy(PurePosixPath(last).stem) or tidy(last) or "Untitled"
