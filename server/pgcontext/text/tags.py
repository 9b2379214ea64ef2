"""Tags as they are stored and looked for."""

from __future__ import annotations

from collections.abc import Iterable

from pgcontext.text.characters import unstorable_character

MAX_TAGS = 100
MAX_TAG_LENGTH = 128


def normalise_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags trimmed, in lower case, each once, in code-point order.

    ValueError for a blank tag, one that is too long after folding, or one that cannot be stored.
    """
    return tuple(sorted({_normalise(tag) for tag in tags}))


def _normalise(tag: str) -> str:
    if fault := unstorable_character(tag):
        raise ValueError(f"a tag {fault}")
    folded = tag.strip().lower()
    if not folded:
        raise ValueError("a tag must not be blank")
    if len(folded) > MAX_TAG_LENGTH:
        raise ValueError(f"a tag must be at most {MAX_TAG_LENGTH} characters")
    return folded
