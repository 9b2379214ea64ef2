"""Settings and options for tests, from given values alone."""

from __future__ import annotations

from typing import Any

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from pgcontext.settings import Settings
from pgcontext.storage.postgres.options import PostgresOptions


class GivenSettings(Settings):
    """Settings that neither the environment nor a `.env` file has a part in."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, **_others: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def settings_for(**values: Any) -> Settings:
    """Settings from these values and the defaults."""
    return GivenSettings(**values)


def options_for(conninfo: str, row_level_security: bool, settings: Settings | None = None) -> PostgresOptions:
    """Options for a small pool on this database."""
    settings = settings or settings_for()
    return PostgresOptions(
        conninfo=conninfo,
        policy=settings.access_policy(),
        indexed_fields=settings.metadata_indexed_fields,
        language=settings.fts_language,
        word_ranking=settings.fts_ranking,
        row_level_security=row_level_security,
        pool_min=1,
        pool_max=4,
    )
