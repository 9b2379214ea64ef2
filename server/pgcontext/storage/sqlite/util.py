"""Ids, times and JSON. A time in the database is a whole number of microseconds since 1970, in UTC.

Twin of `sql/util/`.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000
_EARLIEST = -(2**63)

_turn = threading.Lock()
_latest = 0


def current_micros() -> int:
    """The present time; later than every answer before it in this process, so that writes list in their order."""
    global _latest
    with _turn:
        _latest = max(time.time_ns() // 1000, _latest + 1)
        return _latest


def new_entry_id(micros: int) -> str:
    """A new UUID of version 7 for a time: 48 bits of milliseconds, 12 of the fraction of one, the rest random."""
    milliseconds, fraction = divmod(micros, 1000)
    return f"{milliseconds:012x}{0x7000 + fraction * 4096 // 1000:04x}{(0b10 << 62) | secrets.randbits(62):016x}"


def to_micros(moment: datetime) -> int:
    """An aware datetime as microseconds."""
    return (moment - _EPOCH) // _MICROSECOND


def days_before(micros: int, days: int) -> int:
    """The time that many days earlier, or the earliest that the database can hold."""
    return max(micros - days * _DAY, _EARLIEST)


def to_json(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """Compact JSON; raises ValueError for NaN and infinities."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def is_same_json(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal; unlike for Python, true is not 1 for JSON."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same_json, left, right))
    return bool(left == right)


def merge_patch(target: Any, patch: Any) -> Any:
    """A JSON Merge Patch (RFC 7396) applied: new keys are added, given ones replaced, None removes."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
