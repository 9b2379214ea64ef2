"""The outline of a Markdown text: its headings as a tree.

Headings are found by a CommonMark parser, so that whatever only looks like one (in fenced or indented code, in
front matter) is none. Those inside quotations and lists are left to the section they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it import MarkdownIt

from pgcontext.text.lines import Lines

ROOT = "root"
DEEPEST = 6
MAX_TITLE = 200
"""As much of a heading as an outline shows."""

_MAX_SLUG = 60
_NOT_IN_SLUGS = re.compile(r"[^\w\s-]+")
_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_END_OF_FRONT_MATTER = ("---", "...")


@dataclass(slots=True)
class Node:
    """A section: from its heading up to the next one that is not below it. `ordinal` is its place among its
    siblings, from 1 on; the root has level 0 and is the whole text."""

    node_id: str
    level: int
    ordinal: int
    title: str
    char_start: int
    char_end: int
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()


def outline(text: str, max_depth: int = DEEPEST) -> Node:
    """The outline of a text; headings deeper than `max_depth` count as part of their section."""
    root = Node(ROOT, 0, 1, "", 0, len(text))
    open_nodes = [root]
    slugs: dict[str, dict[str, int]] = {"": {ROOT: 1}}
    for level, title, start in _headings(text):
        if level > max_depth:
            continue
        while open_nodes[-1].level >= level:
            open_nodes.pop().char_end = start
        parent = open_nodes[-1]
        path = "" if parent is root else f"{parent.node_id}/"
        node_id = path + _unused(_slug(title), slugs.setdefault(path, {}))
        node = Node(node_id, level, len(parent.children) + 1, title, start, len(text))
        parent.children.append(node)
        open_nodes.append(node)
    return root


def find_node(root: Node, node_id: str) -> Node | None:
    """The node of this id, else the nearest one above it that is there; None when not even its first part is."""
    nodes = {node.node_id: node for node in root.walk()}
    while node_id not in nodes:
        node_id, slash, _ = node_id.rpartition("/")
        if not slash:
            return None
    return nodes[node_id]


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Level, title and beginning of each heading."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    lines = Lines(text)
    tokens = parser.parse(_without_front_matter(text, lines))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            title = " ".join(inline.content.split())
            cut = title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"
            yield int(opening.tag[1:]), cut, lines.start(opening.map[0] + 1)


def _without_front_matter(text: str, lines: Lines) -> str:
    """The text with as many empty lines in place of the YAML block that it may begin with."""
    if _line(text, lines, 1) != _END_OF_FRONT_MATTER[0]:
        return text
    for number in range(2, len(lines) + 1):
        if _line(text, lines, number) in _END_OF_FRONT_MATTER:
            return "\n" * (number - 1) + text[lines.end(number) :]
    return text


def _line(text: str, lines: Lines, number: int) -> str:
    return text[lines.start(number) : lines.end(number)].rstrip()


def _slug(title: str) -> str:
    words = _BETWEEN_WORDS.sub("-", _NOT_IN_SLUGS.sub("", title.lower())).strip("-")
    return words[:_MAX_SLUG].rstrip("-") or "section"


def _unused(slug: str, used: dict[str, int]) -> str:
    """The slug, with the first number that makes it the only one of its kind among its siblings.

    `used` has the last number tried for each.
    """
    chosen = slug
    while chosen in used:
        used[slug] += 1
        chosen = f"{slug}-{used[slug]}"
    used[chosen] = 1
    return chosen
