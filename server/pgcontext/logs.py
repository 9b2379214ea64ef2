"""Logging: to stderr only, since stdout belongs to the protocol under stdio."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

_CHATTY = ("mcp", "uvicorn", "asyncio", "yoyo", "psycopg.pool")
# at DEBUG these write out whole messages, and with them texts
_TALKATIVE = ("mcp", "httpcore2", "httpx2", "sse_starlette")


def configure_logging(level: str, form: Literal["text", "json"] = "text") -> None:
    """Send every log record of at least `level` to stderr; libraries speak from WARNING on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.INFO, logging.getLevelNamesMapping()[level]))
    # psycopg warns of every statement that PostgreSQL refuses within a pipeline; the refusal itself is raised
    logging.getLogger("psycopg").setLevel(max(logging.ERROR, logging.getLevelNamesMapping()[level]))
    if level != "DEBUG":
        for name in _CHATTY:
            logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))


class _TextFormatter(logging.Formatter):
    """Lines for people; the fields of a record follow its message as `name=value`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = _fields(record).items()
        shown = "".join(f" {name}={json.dumps(value, ensure_ascii=False)}" for name, value in fields)
        return super().formatMessage(record) + shown


class _JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, the record's fields, and a traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= _fields(record)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields
