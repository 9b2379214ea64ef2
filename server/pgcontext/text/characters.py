"""Characters that a database cannot store."""

from __future__ import annotations

_SHOWN_LENGTH = 100


def unstorable_character(text: str) -> str | None:
    """Why a text cannot be stored, as the end of a sentence ("contains ..."), or None when it can.

    PostgreSQL has no NUL in text, and a lone surrogate has no UTF-8 form.
    """
    if "\x00" in text:
        return "contains a NUL character, which cannot be stored"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains a lone surrogate, which is not a character"
    return None


def check_characters(text: str) -> str:
    """The text itself; ValueError when it cannot be stored."""
    if fault := unstorable_character(text):
        raise ValueError(fault)
    return text


def printable(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be sent as UTF-8."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def shown(name: str) -> str:
    """A name that a caller made up, short and printable enough to be quoted in an error."""
    return printable(name if len(name) <= _SHOWN_LENGTH else f"{name[:_SHOWN_LENGTH]}...")
