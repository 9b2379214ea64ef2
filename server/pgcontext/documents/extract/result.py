"""What extraction gives back, and how it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgcontext.errors import PgcontextError

Fault = Literal[
    "unsupported", "missing_library", "encrypted", "scanned", "broken", "binary", "encoding", "too_large"
]

# More text than this is no document; it also bounds what one extraction may hold in memory.
MAX_CHARACTERS = 128 * 2**20


@dataclass(frozen=True)
class ExtractedDocument:
    """All the text of a file, its title, and what a reader should know about how they were got."""

    title: str
    text: str
    warnings: tuple[str, ...] = ()


class ExtractionFailed(PgcontextError):
    """The file gives no text; `fault` says which kind of reason, `str()` the reason."""

    def __init__(self, fault: Fault, reason: str) -> None:
        super().__init__(fault, reason)
        self.fault = fault
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Content:
    """What one format's reader found; `title` is None where the document names none."""

    text: str
    title: str | None = None
    warnings: tuple[str, ...] = ()


def check_length(characters: int) -> None:
    """Raises `ExtractionFailed` when a text is longer than any document."""
    if characters > MAX_CHARACTERS:
        raise ExtractionFailed("too_large", f"The file holds more than {MAX_CHARACTERS} characters of text")
