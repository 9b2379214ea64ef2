"""The spellings of an entry id."""

from __future__ import annotations

import re

ID_LENGTH = 32
PREFIX_MIN_LENGTH = 8

_HEX = re.compile(r"[0-9a-f]{8,32}")
_HYPHENATED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def parse_id(value: str) -> str:
    """The canonical form of an id (32 lower-case hex digits) or of an id prefix (8 to 31 of them).

    Surrounding white space and case do not matter, and a whole id may be written with the hyphens of a UUID.
    ValueError for anything else.
    """
    folded = value.strip().lower()
    if _HEX.fullmatch(folded):
        return folded
    if _HYPHENATED.fullmatch(folded):
        return folded.replace("-", "")
    raise ValueError(
        "must be an entry id (32 hex digits, or the 36-character form with hyphens) "
        "or the first 8 to 31 hex digits of one"
    )


def is_prefix(parsed_id: str) -> bool:
    """Whether an id that `parse_id` returned is only the beginning of one."""
    return len(parsed_id) < ID_LENGTH
