"""Metadata objects: what may be stored, and the fields that have an index."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from pgcontext.text.characters import check_characters
from pgcontext.text.literals import is_boolean, is_float, is_integer

MAX_DEPTH = 32
MAX_SIZE = 1_000_000
"""Characters of JSON with a space after each comma and colon, as PostgreSQL prints it."""
MAX_INDEXED_LENGTH = 512

_INTEGRAL_FROM = 1e16
"""From here on a float prints with an exponent; a database that keeps decimals prints an integer."""

_CHECKS = {"integer": is_integer, "boolean": is_boolean, "float": is_float}


def normalise_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which equal numbers are written alike.

    ValueError for NaN and infinities, characters that cannot be stored, nesting deeper than `MAX_DEPTH` levels
    and more than `MAX_SIZE` characters of JSON.
    """
    document: dict[str, Any] = _normalise(dict(metadata), 1)
    if not fits(document):
        raise ValueError(f"must be at most {MAX_SIZE} characters of JSON")
    return document


def fits(document: Mapping[str, Any]) -> bool:
    """Whether a metadata object keeps within `MAX_SIZE`."""
    return len(json.dumps(document, ensure_ascii=False)) <= MAX_SIZE


def normalise_number(value: int | float) -> int | float:
    """The number as every backend returns it; ValueError when it is not finite at double precision."""
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise ValueError("numbers must be finite (no NaN, no infinity, nothing beyond 1.8e308)")
    if isinstance(value, int):
        return value
    if abs(value) >= _INTEGRAL_FROM:
        return int(value)
    return value or 0.0


def compact_json(value: Any) -> str:
    """JSON without spaces, in Unicode rather than escapes."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _normalise(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return check_characters(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return normalise_number(value)
    if depth > MAX_DEPTH:
        raise ValueError(f"must not be nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {check_characters(key): _normalise(item, depth + 1) for key, item in value.items()}
    return [_normalise(item, depth + 1) for item in value]


def indexed_field_faults(metadata: Mapping[str, Any], fields: Mapping[str, str]) -> list[str]:
    """What is wrong with the values under indexed fields, one sentence per field.

    `fields` gives each indexed field, a key or a dotted path, its type. A value counts as the text an index
    would hold: a string itself, anything else as compact JSON.
    """
    faults = []
    for name, kind in fields.items():
        value = _value_at(metadata, name)
        if value is None:
            continue
        text = value if isinstance(value, str) else compact_json(value)
        if len(text) > MAX_INDEXED_LENGTH:
            faults.append(f"the value of the indexed field '{name}' exceeds {MAX_INDEXED_LENGTH} characters")
        elif (check := _CHECKS.get(kind)) and not check(text):
            faults.append(f"the value of the indexed field '{name}' is not a valid {kind}")
    return faults


def _value_at(metadata: Mapping[str, Any], path: str) -> Any:
    value: Any = metadata
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
