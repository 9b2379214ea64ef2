"""How the stored functions are called."""

from __future__ import annotations

from typing import LiteralString

from psycopg import sql
from psycopg.adapt import PyFormat

ARGUMENT_TYPES: dict[str, tuple[LiteralString, ...]] = {
    "begin_request": ("text", "text[]", "text[]", "name", "integer"),
    "list_wall_faults": (),
    "store_entries": ("jsonb", "boolean", "halfvec[]", "bytea[]"),
    "update_entries": ("jsonb", "boolean", "halfvec[]", "bytea[]"),
    "delete_entries": ("uuid[]", "text[]", "text", "integer"),
    "get_entries": ("uuid[]",),
    "get_entry_rights": ("uuid[]",),
    "list_images": ("uuid[]",),
    "list_threads": ("integer", "integer"),
    "get_statistics": (),
    "search_entries": ("jsonb", "integer", "integer", "integer"),
    "explain_search": ("jsonb", "integer", "integer"),
    "rank_words": ("jsonb", "jsonb", "integer"),
    "explain_words": ("jsonb", "jsonb", "integer"),
    "read_passages": ("uuid[]", "integer[]"),
    "rank_vectors": ("halfvec", "jsonb", "integer"),
    "explain_vectors": ("halfvec", "jsonb", "integer"),
    "preview_entries": ("uuid[]", "integer"),
    "rank_hybrid": ("jsonb", "halfvec", "jsonb", "text", "integer", "integer", "integer"),
    "resolve_prefixes": ("text[]",),
    "plan_sync": ("text", "jsonb", "text", "text"),
    "list_ingest_state": ("text", "integer", "text", "uuid"),
    "list_candidates": ("jsonb", "text[]", "integer", "timestamptz", "uuid"),
    "read_texts": ("uuid[]",),
    "read_span": ("uuid", "integer", "integer", "integer", "integer"),
    "share_entry": ("uuid", "text", "text", "text"),
    "unshare_entry": ("uuid", "text", "text", "text"),
    "list_grants": ("uuid",),
}


# named by no cast, because the schema of pgvector's types is not on every search path
_IN_BINARY = frozenset({"halfvec", "halfvec[]", "bytea[]"})


def statement(schema: str, function: str, types: tuple[LiteralString, ...]) -> str:
    """The call of a stored function; its columns are, in order, the fields of the dataclass made of them."""
    arguments = sql.SQL(", ").join(map(_argument, types))
    return sql.SQL("select * from {}({})").format(sql.Identifier(schema, function), arguments).as_string()


def _argument(type: LiteralString) -> sql.Composable:
    if type in _IN_BINARY:
        return sql.Placeholder(format=PyFormat.BINARY)
    return sql.SQL("{}::" + type).format(sql.Placeholder())
