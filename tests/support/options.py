"""Settings and options for tests, from given values alone."""

from __future__ import annotations

from typing import Any

from pgcontext.settings import Settings
from pgcontext.storage.postgres.options import PostgresOptions


def settings_for(**values: Any) -> Settings:
    """Settings from these values alone: neither the environment nor a `.env` file counts."""
    return Settings(_env_file=None, **values)  # type: ignore[call-arg]


def options_for(conninfo: str, row_level_security: bool, settings: Settings | None = None) -> PostgresOptions:
    """Options for a small pool on this database."""
    settings = settings or settings_for()
    return PostgresOptions(
        conninfo=conninfo,
        policy=settings.access_policy(),
        indexed_fields=settings.metadata_indexed_fields,
        row_level_security=row_level_security,
        pool_min=1,
        pool_max=4,
    )
