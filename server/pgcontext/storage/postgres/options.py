"""What the PostgreSQL backend is told at its start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg.conninfo import make_conninfo

from pgcontext.storage.values import AccessPolicy, IndexSyncMode, WordRanking

SERVER_ROLE = "pgcontext_server"
REPORTER_ROLE = "pgcontext_reporter"


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """Where the database is and how to use it; times are in seconds.

    `conninfo` is a libpq connection string or URI. `indexed_fields` maps metadata fields to their types.
    """

    conninfo: str
    schema: str = "pgcontext"
    policy: AccessPolicy = field(default_factory=AccessPolicy)
    indexed_fields: Mapping[str, str] = field(default_factory=dict)
    index_sync_mode: IndexSyncMode = "additive"
    language: str = "english"
    word_ranking: WordRanking = "idf"
    row_level_security: bool = True
    pool_min: int = 2
    pool_max: int = 20
    pool_timeout: float = 30.0
    command_timeout: float = 60.0
    migration_timeout: float = 300.0

    @property
    def role(self) -> str | None:
        """The role that every request takes on, or None where row-level security is switched off."""
        return SERVER_ROLE if self.row_level_security else None

    def database_settings(self) -> dict[str, str]:
        """What the table `setting` must hold for this deployment; a name that is absent has no row."""
        policy = self.policy
        settings = {
            "fts_language": self.language,
            "fts_ranking": self.word_ranking,
            "default_visibility": policy.default_visibility,
            "author_group_grants": "true" if policy.author_group_grants else "false",
            "publish_role": policy.publish_role,
            "anonymous_principal": policy.anonymous_principal,
            "metadata_indexed_fields": json.dumps(dict(self.indexed_fields), sort_keys=True),
        }
        return {name: value for name, value in settings.items() if value is not None}


def connection_string(**parts: Any) -> str:
    """A libpq connection string of these parts; libpq's own default stands in for one that is None."""
    return make_conninfo(**parts)
