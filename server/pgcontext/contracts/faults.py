"""Validation errors in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from pgcontext.text.characters import shown

_SENTENCES = {
    "missing": "is required",
    "extra_forbidden": "is not a known parameter",
    "string_type": "must be a string",
    "string_unicode": "contains a lone surrogate, which is not a character",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "invalid_key": "must be a string",
}


class WholeMessage(ValueError):
    """A fault whose text already names its parameter."""


MOST_FAULTS = 50
"""As many as anybody reads."""


def describe_faults(error: ValidationError) -> list[str]:
    """One sentence per fault, each naming its parameter; what is beyond `MOST_FAULTS` is only counted."""
    faults = error.errors(include_url=False, include_input=False)
    sentences = [_describe(fault["loc"], fault) for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        sentences.append(f"and {len(faults) - MOST_FAULTS} more faults")
    return sentences


def _describe(location: Sequence[int | str], fault: Any) -> str:
    context = fault.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, WholeMessage):
        return str(cause)
    match fault["type"]:
        case "value_error":
            sentence = str(cause)
        case "literal_error":
            sentence = f"must be {context['expected']}"
        case "too_long":
            sentence = f"must hold at most {context['max_length']} items"
        case "too_short":
            sentence = "must not be empty"
        case kind:
            sentence = _SENTENCES.get(kind) or fault["msg"]
    parameter = _path(location)
    return f"{parameter}: {sentence}" if parameter else sentence


def _path(location: Sequence[int | str]) -> str:
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{shown(part)}" if path else shown(part)
    return path
