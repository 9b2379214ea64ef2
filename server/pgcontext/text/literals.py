"""Literals as PostgreSQL's input functions for integer, boolean and double precision read them.

The grammars are those of pg_strtoint32_safe, parse_bool_with_len and float8in_internal in PostgreSQL 16.
"""

from __future__ import annotations

import math
import re

_SPACE = " \t\n\v\f\r"
_INTEGER = re.compile(
    r"(?P<sign>[+-]?)(?:"
    r"0[xX](?P<hex>(?:_?[0-9a-fA-F])+)|0[oO](?P<octal>(?:_?[0-7])+)|0[bB](?P<binary>(?:_?[01])+)"
    r"|(?P<decimal>[0-9](?:_?[0-9])*))",
    re.ASCII,
)
_DECIMAL_FLOAT = re.compile(r"[+-]?(?P<digits>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_HEX_FLOAT = re.compile(
    r"[+-]?0[xX](?P<digits>[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?", re.ASCII
)
_SPECIAL_FLOAT = re.compile(r"nan|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
_BASES = {"hex": 16, "octal": 8, "binary": 2, "decimal": 10}
_MAX_DIGITS = 64
"""More than any 32-bit integer needs, leading zeros aside."""


def is_integer(text: str) -> bool:
    """Whether the text casts to a 32-bit integer."""
    match = _INTEGER.fullmatch(text.strip(_SPACE))
    if match is None:
        return False
    kind = next(name for name in _BASES if match[name] is not None)
    digits = match[kind].replace("_", "").lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return False
    value = int(digits, _BASES[kind])
    return -(2**31) <= (-value if match["sign"] == "-" else value) < 2**31


def is_boolean(text: str) -> bool:
    """Whether the text casts to a boolean: true, false, yes, no, on, off, their beginnings, 1 or 0."""
    word = text.strip(_SPACE).lower()
    if word in ("1", "0"):
        return True
    if word in ("", "o"):
        return False
    return any(name.startswith(word) for name in ("true", "false", "yes", "no", "on", "off"))


def is_float(text: str) -> bool:
    """Whether the text casts to double precision without overflow or underflow."""
    word = text.strip(_SPACE)
    if _SPECIAL_FLOAT.fullmatch(word):
        return True
    if match := _DECIMAL_FLOAT.fullmatch(word):
        value = float(word)
    elif match := _HEX_FLOAT.fullmatch(word):
        try:
            value = float.fromhex(word)
        except OverflowError:
            return False
    else:
        return False
    is_zero = not match["digits"].strip("0.")
    return math.isfinite(value) and (is_zero or value != 0)
