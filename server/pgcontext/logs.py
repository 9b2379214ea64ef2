"""Logging: to stderr only, since stdout belongs to the protocol under stdio."""

from __future__ import annotations

import logging
import sys

_CHATTY = ("mcp", "uvicorn", "asyncio", "yoyo", "psycopg.pool")


def configure_logging(level: str) -> None:
    """Send every log record of at least `level` to stderr; libraries speak from WARNING on."""
    logging.basicConfig(
        level=level, stream=sys.stderr, force=True, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    if level != "DEBUG":
        for name in _CHATTY:
            logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
        # psycopg warns of every statement that PostgreSQL refuses within a pipeline; the refusal itself is raised
        logging.getLogger("psycopg").setLevel(max(logging.ERROR, logging.getLevelNamesMapping()[level]))
