"""What extraction makes of a file, refusals included."""

from __future__ import annotations

from pgcontext.documents.extract import ExtractionFailed, extract


def outcome(content: bytes, name: str) -> tuple[str | None, str]:
    """The fault and nothing, or no fault and the text, which can be stored."""
    try:
        document = extract(content, name)
    except ExtractionFailed as error:
        return error.fault, ""
    document.text.encode()
    assert "\x00" not in document.text
    assert document.title
    return None, document.text


def fault_of(content: bytes, name: str) -> str | None:
    """The kind of refusal, None when there is none."""
    return outcome(content, name)[0]
