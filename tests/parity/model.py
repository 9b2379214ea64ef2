"""What a metadata filter means, said once more: the sixteen operators as docs/filters.md describes them."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

_INT64_END = 2**63
_ABSENT = object()
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operators.eq,
    "ne": operators.ne,
    "gt": operators.gt,
    "gte": operators.ge,
    "lt": operators.lt,
    "lte": operators.le,
}
_SUBSTRINGS: dict[str, Callable[[str, str], bool]] = {
    "contains": operators.contains,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
}


def passes(metadata: dict[str, Any], condition: dict[str, Any]) -> bool:
    """Whether stored metadata pass a condition {key, operator, value, case_sensitive}."""
    stored = _value_at(metadata, condition["key"])
    name, constant = condition["operator"], condition.get("value")
    is_exact = condition.get("case_sensitive", False)
    match name:
        case "exists" | "is_not_null":
            return stored is not _ABSENT and stored is not None
        case "not_exists":
            return stored is _ABSENT or stored is None
        case "is_null":
            return stored is None
        case "contains" | "starts_with" | "ends_with":
            return isinstance(stored, str) and _SUBSTRINGS[name](
                _fold(stored, is_exact), _fold(constant, is_exact)
            )
        case "in":
            return any(_compare("eq", stored, member, is_exact) for member in constant)
        case "not_in":
            of_its_type = [member for member in constant if _kind(member) == _kind(stored)]
            return bool(of_its_type) and all(_compare("ne", stored, member, is_exact) for member in of_its_type)
        case "array_contains":
            return isinstance(stored, list) and any(_compare("eq", item, constant, is_exact) for item in stored)
        case _:
            return _compare(name, stored, constant, is_exact)


def _value_at(metadata: Any, key: str) -> Any:
    value = metadata
    for label in key.split("."):
        if not isinstance(value, dict) or label not in value:
            return _ABSENT
        value = value[label]
    return value


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "other"


def _compare(name: str, stored: Any, constant: Any, is_exact: bool) -> bool:
    """Compare values of one type; Python compares integers with floats exactly."""
    kind = _kind(constant)
    if _kind(stored) != kind:
        return False
    if kind == "string":
        stored, constant = _fold(stored, is_exact), _fold(constant, is_exact)
    elif kind == "number" and abs(constant) >= _INT64_END:
        stored, constant = float(stored), float(constant)
    return _COMPARISONS[name](stored, constant)


def _fold(text: str, is_exact: bool) -> str:
    if is_exact:
        return text
    return "".join(chr(ord(character) + 32) if "A" <= character <= "Z" else character for character in text)
