"""Dates as callers write them, and as results show them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

ACCEPTED_FORMS = (
    "must be a date such as 2025-11-29, 2025-11-29T10:00:00, 2025-11-29T10:00:00Z or 2025-11-29T10:00:00+02:00"
)

_DATE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:T(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:\.(?P<fraction>\d{1,6}))?"
    r"(?P<zone>Z|[+-]\d{2}:\d{2})?)?",
    re.ASCII,
)
_END_OF_DAY = time(23, 59, 59, 999_999)
_EPOCH = datetime(1970, 1, 1)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


def parse_date(value: str, *, is_end: bool) -> datetime:
    """The moment in UTC that a date or date and time stands for.

    A date alone is its first microsecond, or its last with `is_end`; a time without a zone is UTC. A moment that
    its offset would carry outside the years 1 to 9999 becomes the first or the last of them. ValueError for
    every other spelling.
    """
    match = _DATE.fullmatch(value)
    if match is None:
        raise ValueError(ACCEPTED_FORMS)
    try:
        day = datetime(int(match["year"]), int(match["month"]), int(match["day"]), tzinfo=UTC)
        if match["hour"] is None:
            return datetime.combine(day, _END_OF_DAY, UTC) if is_end else day
        local = day.replace(
            hour=int(match["hour"]),
            minute=int(match["minute"]),
            second=int(match["second"]),
            microsecond=int((match["fraction"] or "").ljust(6, "0")),
        )
        offset = _parse_offset(match["zone"])
    except ValueError:
        raise ValueError(f"{ACCEPTED_FORMS}; {value} does not exist") from None
    try:
        return local - offset
    except OverflowError:
        return _EARLIEST if offset > timedelta(0) else _LATEST


def _parse_offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta(0)
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def format_timestamp(micros: int) -> str:
    """A moment in microseconds since 1970 as results show it: 2025-11-29T10:00:00.000000Z.

    UTC, always with microseconds, so that `parse_date` reads it back exactly and texts sort like moments.
    """
    # positional arguments and no time zone: a result may have hundreds
    return (_EPOCH + timedelta(0, 0, micros)).isoformat("T", "microseconds") + "Z"


def format_seconds(timestamp: str) -> str:
    """A timestamp cut to whole seconds."""
    return timestamp[: len("2025-11-29T10:00:00")] + "Z"
