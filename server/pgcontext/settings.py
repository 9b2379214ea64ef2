"""Every environment variable, typed and documented; the only reader of the environment.

`docs/settings.md` is generated from the descriptions here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from pgcontext.errors import StartRefused
from pgcontext.setting_types import (
    Feature,
    IndexedFields,
    Language,
    LogLevel,
    Megabytes,
    Names,
    Networks,
    PrincipalId,
    PublicUrl,
    SchemaName,
    Seconds,
)
from pgcontext.storage.values import AccessPolicy

if TYPE_CHECKING:
    from pgcontext.storage.postgres.options import PostgresOptions

DEFAULT_INDEXED_FIELDS = {
    "status": "string",
    "agent_name": "string",
    "task_name": "string",
    "project": "string",
    "report_type": "string",
    "references": "object",
    "technologies": "array",
}


def data_folder() -> Path:
    """The folder for data of the user who runs the command."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "pgcontext"


_AUTO = " `auto` and `true` offer it."


class Settings(BaseSettings):
    """What the operator decides; every field is the environment variable of the same name in capitals."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    # core
    log_level: LogLevel = Field("INFO", description="How much the log on stderr says.")
    log_format: Literal["text", "json"] = Field(
        "text", description="Lines for people, or one JSON object per line."
    )
    storage_backend: Literal["sqlite", "postgresql"] = Field("sqlite", description="Where entries are kept.")
    db_path: Path = Field(
        default_factory=lambda: data_folder() / "pgcontext.db",
        description="The SQLite file. Folders on the way to it are created.",
    )
    disabled_tools: Names = Field((), description="Tools to leave out, separated by commas.")
    search_truncation_length: int = Field(
        300, ge=50, le=1000, description="How many characters of an entry's text a search result shows."
    )
    max_image_size_mb: Megabytes = Field(10, description="The largest image, in MiB before base64.")
    max_total_size_mb: Megabytes = Field(100, description="The largest request, in MiB.")
    get_context_by_ids_include_summary: bool = Field(
        False, description="Whether get_context_by_ids returns each entry's summary."
    )

    # transport
    mcp_transport: Literal["http", "stdio"] = Field(
        "http", description="How `pgcontext serve` talks to clients; `--stdio` on the command line wins."
    )
    mcp_http_host: str = Field("127.0.0.1", description="The address to listen on; `--host` wins.")
    mcp_http_port: int = Field(
        8000, ge=0, le=65535, description="The port to listen on, 0 for any free one; `--port` wins."
    )
    mcp_allowed_hosts: Names = Field(
        (),
        description=(
            "Further names under which clients may address the server, separated by commas: "
            "`memory.example.org` with any port, `memory.example.org:8443` with that one. The address it "
            "listens on and the names of the local machine are always allowed; a server that listens on every "
            "address (`0.0.0.0`) needs the name that clients use here."
        ),
    )
    mcp_allowed_origins: Names = Field(
        (),
        description=(
            "Further origins whose web pages may call the server, separated by commas, such as "
            "`https://app.example.org`. Pages served by the local machine are always allowed."
        ),
    )
    mcp_server_instructions: str | None = Field(
        None, description="What the server tells agents about itself, in place of the built-in text."
    )
    mcp_public_url: PublicUrl | None = Field(
        None,
        description=(
            "The address under which clients reach the server, such as `https://memory.example.org/mcp`. Its host "
            "is allowed like those of MCP_ALLOWED_HOSTS, and what the server says about its own address is this. "
            "When unset, the address is taken from each request."
        ),
    )
    mcp_trusted_proxies: Networks = Field(
        (),
        description=(
            "Addresses or networks of the proxies in front of the server, separated by commas. Only a request "
            "that comes from one of them may say by `X-Forwarded-Proto` and `X-Forwarded-Host` what the client "
            "asked for."
        ),
    )
    enable_metrics: bool = Field(
        False, description="Whether `/metrics` answers, without a token, in the text format of Prometheus."
    )

    # authentication
    mcp_auth_provider: Literal["none", "simple_token", "jwt"] = Field(
        "none",
        description=(
            "How callers over HTTP prove who they are: not at all, by one shared token, or by a signed token "
            "each. Over stdio nobody has to."
        ),
    )
    mcp_auth_token: SecretStr | None = Field(
        None, description="`simple_token`: the token that every caller sends."
    )
    mcp_auth_client_id: str = Field(
        "mcp-client", description="`simple_token`: what the log calls whoever sent the token."
    )
    mcp_auth_jwt_public_key: str | None = Field(
        None, description="`jwt`: the issuer's public key in PEM form, or the path of a file that holds it."
    )
    mcp_auth_jwt_jwks_uri: str | None = Field(
        None,
        description=(
            "`jwt`: the address of the issuer's keys, in place of MCP_AUTH_JWT_PUBLIC_KEY; https, or http on this "
            "machine."
        ),
    )
    mcp_auth_jwt_issuer: str | None = Field(
        None,
        description="`jwt`: the issuer, exactly as the claim `iss` has it; an address, so that clients find it.",
    )
    mcp_auth_jwt_audience: Names = Field(
        (), description="`jwt`: whom a token must be meant for (claim `aud`): any of these, separated by commas."
    )
    mcp_auth_jwt_allow_any_audience: bool = Field(
        False,
        description=(
            "`jwt`: accept the issuer's tokens whomever they are meant for, when MCP_AUTH_JWT_AUDIENCE is unset. "
            "Any other service that is shown such a token can then act as its owner here."
        ),
    )
    mcp_auth_jwt_algorithm: Literal[
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
    ] = Field("RS256", description="`jwt`: the one algorithm that signatures may have.")
    mcp_auth_jwt_leeway_s: int = Field(
        30, ge=0, le=300, description="`jwt`: by how many seconds the issuer's clock may differ."
    )
    mcp_auth_jwt_required_scopes: Names = Field(
        (), description="`jwt`: scopes that every token must carry (claim `scope` or `scp`), separated by commas."
    )
    mcp_auth_groups_claim: str = Field(
        "groups",
        description=(
            "`jwt`: the claim that lists the caller's groups. `realm_access.groups` looks inside an object; a "
            "claim whose name is an address is given whole."
        ),
    )
    mcp_auth_roles_claim: str = Field("roles", description="`jwt`: the claim that lists the caller's roles.")

    # access
    access_control_default_principal: PrincipalId = Field(
        "local", description="Who a caller is when no token says so."
    )
    access_control_default_visibility: Literal["private", "public"] = Field(
        "private", description="The visibility of an entry that is stored without one."
    )
    access_control_default_group_grants: Literal["none", "author_groups"] = Field(
        "none", description="`author_groups` lets every group of an entry's author read it from the start."
    )
    access_control_publish_role: str | None = Field(
        None, description="The role that a caller needs to publish an entry; anyone may when it is unset."
    )
    access_control_anonymous_principal: PrincipalId | None = Field(
        None, description="A principal that may read what is public or shared with it, and never write."
    )
    enable_postgresql_rls: bool = Field(
        True,
        description=(
            "Whether PostgreSQL enforces the access rules by row-level security too. `false` is for managed "
            "databases that allow no roles."
        ),
    )

    # features
    enable_fts: Feature = Field(
        "auto", description="Whether entries are searched by words; `auto` and `true` do so."
    )
    enable_semantic_search: Feature = Field(
        "auto",
        description=(
            "Whether entries are searched by meaning; `auto` does so where there is an embedding model, `true` "
            "refuses to start without one."
        ),
    )
    enable_hybrid_search: Feature = Field(
        "auto", description="Whether hybrid_search_context is offered; `auto` offers it where any search is left."
    )
    enable_context_sync: Feature = Field(
        "auto", description="Whether plan_context_sync and list_ingest_state are offered; `auto` offers them."
    )

    # search
    fts_language: Language = Field(
        "english",
        description=(
            "The language by which words are reduced to stems: `simple` for none, or one of the snowball "
            "languages of PostgreSQL. After a change the words of all entries are derived anew at the next start."
        ),
    )
    fts_ranking: Literal["idf", "cover_density"] = Field(
        "idf",
        description=(
            "How matches by words are ranked: `idf` counts rare words for more and long texts for less, "
            "`cover_density` (PostgreSQL only) takes ts_rank_cd, which prefers words that stand close together."
        ),
    )
    hybrid_rrf_k: int = Field(
        60, ge=1, le=1000, description="The smoothing of reciprocal rank fusion: the larger, the flatter."
    )
    hybrid_rrf_overfetch: int = Field(
        2, ge=1, le=10, description="How many times a hundred entries each leg of a hybrid search brings."
    )
    hybrid_fts_or_threshold: int = Field(
        4,
        ge=1,
        le=1000,
        description="From how many significant words on any of them suffices for a hybrid search, not all.",
    )

    # embeddings
    enable_embedding_generation: bool = Field(
        True, description="Whether texts are embedded when they are stored, so that they are found by meaning."
    )
    embedding_provider: Literal["builtin", "none"] = Field(
        "builtin",
        description="What embeds: `builtin` is a model in the server's process, `none` leaves search by words.",
    )
    embedding_model: str = Field(
        "all-MiniLM-L6-v2", description="The model. `builtin` has only the one that is the default."
    )
    embedding_dim: int = Field(384, ge=1, le=4000, description="The dimension of the model's vectors.")
    embedding_max_concurrent: int = Field(
        3,
        ge=1,
        le=64,
        description=(
            "How many texts are embedded at once; also the number of threads of `builtin`, which never uses more "
            "than there are cores."
        ),
    )
    embedding_timeout_s: Seconds = Field(
        240,
        description=(
            "How long embedding one text may take, in seconds. What is not done by then is stored without, found "
            "by words, and embedded later."
        ),
    )
    enable_chunking: bool = Field(True, description="Whether long texts are embedded in parts.")
    chunk_size: int = Field(1500, ge=100, le=100_000, description="The most characters of a part.")
    chunk_overlap: int = Field(
        150, ge=0, description="How many characters a part shares with the one before; at most half of CHUNK_SIZE."
    )
    chunk_aggregation: Literal["max"] = Field(
        "max", description="How an entry's parts make its score: `max` takes the best."
    )

    # reranking
    enable_reranking: bool = Field(
        True, description="Whether the best 100 results of a ranked search are put into a finer order."
    )
    reranking_provider: Literal["builtin", "none"] = Field(
        "builtin", description="What judges them: `builtin` compares the query's tokens with those of the texts."
    )
    reranking_neighbour_weight: float = Field(
        0.3,
        ge=0,
        le=0.5,
        description=(
            "How much an entry rises when the entry before it in its thread is among the results; the entry after "
            "it counts a third. 0 turns this off."
        ),
    )

    # metadata
    metadata_indexed_fields: IndexedFields = Field(
        default_factory=lambda: dict(DEFAULT_INDEXED_FIELDS),
        description=(
            "Metadata fields with an index, separated by commas, each `name` or `name:type`. The types are "
            "string (the default), integer, boolean, float, object and array."
        ),
    )
    metadata_index_sync_mode: Literal["additive", "strict", "auto", "warn"] = Field(
        "additive",
        description=(
            "What happens at the start when the indexes differ from METADATA_INDEXED_FIELDS: `additive` creates "
            "missing ones, `auto` also drops surplus ones, `warn` only reports, `strict` refuses to start."
        ),
    )

    # navigation
    enable_grep_context: Feature = Field("auto", description="Whether grep_context is offered." + _AUTO)
    enable_context_navigation: Feature = Field("auto", description="Whether navigate_context is offered." + _AUTO)
    enable_context_range: Feature = Field("auto", description="Whether read_context_range is offered." + _AUTO)
    grep_max_matches_cap: int = Field(
        1000, ge=1, le=100_000, description="The most matches of one grep_context, whatever it asks for."
    )
    grep_max_context_lines: int = Field(
        20, ge=0, le=100, description="The most lines that grep_context shows before and after a match."
    )
    grep_max_entries_scanned: int = Field(
        1000, ge=1, le=1_000_000, description="The most entries that one grep_context looks through."
    )
    grep_aggregate_bytes_budget: int = Field(
        64 * 2**20, ge=1024, le=2**40, description="The most bytes of text that one grep_context looks through."
    )
    grep_regex_timeout_s: Seconds = Field(
        5, description="How long a regular expression may take for one entry, in seconds."
    )
    grep_regex_total_timeout_s: Seconds = Field(
        30, description="How long the search of one grep_context may take, in seconds."
    )
    grep_max_pattern_chars: int = Field(
        32_768, ge=1, le=1_000_000, description="The longest pattern of grep_context, in characters."
    )

    # postgresql
    postgresql_connection_string: SecretStr | None = Field(
        None, description="A libpq connection string or URI. When set, the six variables below are not used."
    )
    postgresql_host: str = Field("localhost", description="Host name, address, or folder of the Unix socket.")
    postgresql_port: int = Field(5432, ge=1, le=65535, description="Port.")
    postgresql_user: str | None = Field(None, description="Login; libpq's own default when unset.")
    postgresql_password: SecretStr | None = Field(None, description="Password; libpq's own default when unset.")
    postgresql_database: str = Field("pgcontext", description="Database.")
    postgresql_ssl_mode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] = Field(
        "prefer", description="Encryption of the connection, as libpq's `sslmode`."
    )
    postgresql_schema: SchemaName = Field("pgcontext", description="The schema that holds everything.")
    postgresql_pool_min: int = Field(2, ge=0, le=1000, description="Connections kept open.")
    postgresql_pool_max: int = Field(20, ge=1, le=1000, description="The most connections of one server process.")
    postgresql_pool_timeout_s: Seconds = Field(
        30, description="How long a request waits for a free connection, in seconds."
    )
    postgresql_command_timeout_s: Seconds = Field(60, description="How long a statement may run, in seconds.")
    postgresql_migration_timeout_s: Seconds = Field(
        300, description="How long an upgrade waits for its turn, in seconds."
    )

    @model_validator(mode="after")
    def _check_pool(self) -> Self:
        if self.postgresql_pool_min > self.postgresql_pool_max:
            raise ValueError("POSTGRESQL_POOL_MIN must not exceed POSTGRESQL_POOL_MAX")
        return self

    def features_off(self) -> frozenset[str]:
        """What is left out by ENABLE_..., as `Tool.feature` names it."""
        off = {
            name.removeprefix("enable_")
            for name in type(self).model_fields
            if name.startswith("enable_") and getattr(self, name) == "false"
        }
        if not self.has_embeddings:
            off.add("semantic_search")
        if {"fts", "semantic_search"} <= off:
            off.add("hybrid_search")
        return frozenset(off)

    @property
    def has_embeddings(self) -> bool:
        """Whether there is a model that embeds."""
        return self.enable_embedding_generation and self.embedding_provider != "none"

    @model_validator(mode="after")
    def _check_semantic_search(self) -> Self:
        if self.enable_semantic_search == "true" and not self.has_embeddings:
            raise ValueError("ENABLE_SEMANTIC_SEARCH is true, but there is no embedding provider")
        return self

    @model_validator(mode="after")
    def _check_chunks(self) -> Self:
        if self.chunk_overlap > self.chunk_size // 2:
            raise ValueError("CHUNK_OVERLAP must be at most half of CHUNK_SIZE")
        return self

    @model_validator(mode="after")
    def _check_builtin_model(self) -> Self:
        if self.embedding_provider == "builtin":
            if self.embedding_model != "all-MiniLM-L6-v2":
                raise ValueError("EMBEDDING_MODEL: the built-in provider has only 'all-MiniLM-L6-v2'")
            if self.embedding_dim != 384:
                raise ValueError("EMBEDDING_DIM must be 384, the dimension of the built-in model")
        return self

    def access_policy(self) -> AccessPolicy:
        """The deployment's access rules as the backends take them."""
        return AccessPolicy(
            default_visibility=self.access_control_default_visibility,
            publish_role=self.access_control_publish_role,
            anonymous_principal=self.access_control_anonymous_principal,
            author_group_grants=self.access_control_default_group_grants == "author_groups",
        )

    def postgres_options(self) -> PostgresOptions:
        """What the PostgreSQL backend is told at its start."""
        from pgcontext.storage.postgres.options import PostgresOptions

        return PostgresOptions(
            conninfo=self._conninfo(),
            schema=self.postgresql_schema,
            policy=self.access_policy(),
            indexed_fields=self.metadata_indexed_fields,
            index_sync_mode=self.metadata_index_sync_mode,
            language=self.fts_language,
            word_ranking=self.fts_ranking,
            row_level_security=self.enable_postgresql_rls,
            pool_min=self.postgresql_pool_min,
            pool_max=self.postgresql_pool_max,
            pool_timeout=self.postgresql_pool_timeout_s,
            command_timeout=self.postgresql_command_timeout_s,
            migration_timeout=self.postgresql_migration_timeout_s,
        )

    def _conninfo(self) -> str:
        if self.postgresql_connection_string is not None:
            return self.postgresql_connection_string.get_secret_value()
        from pgcontext.storage.postgres.options import connection_string

        password = self.postgresql_password
        return connection_string(
            host=self.postgresql_host,
            port=self.postgresql_port,
            user=self.postgresql_user,
            password=password.get_secret_value() if password is not None else None,
            dbname=self.postgresql_database,
            sslmode=self.postgresql_ssl_mode,
        )


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings of the environment and `.env`, with the given fields laid over them.

    Raises `StartRefused` with one line per wrong variable.
    """
    try:
        return Settings(**(overrides or {}))
    except ValidationError as error:
        lines = [_describe(fault) for fault in error.errors(include_url=False, include_input=False)]
        raise StartRefused("\n".join(lines)) from None


def _describe(fault: Any) -> str:
    cause = fault.get("ctx", {}).get("error")
    message = str(cause) if cause is not None else fault["msg"].replace("Input should", "must")
    variable = str(fault["loc"][0]).upper() if fault["loc"] else ""
    return f"{variable}: {message}" if variable else message
