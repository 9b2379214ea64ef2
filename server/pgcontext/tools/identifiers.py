"""From the ids that callers write to the ids of entries."""

from __future__ import annotations

from collections.abc import Sequence

from pgcontext.errors import PgcontextError, PrefixAmbiguous, PrefixNotFound
from pgcontext.text.ids import is_prefix, parse_id
from pgcontext.tools.base import ToolContext


async def resolve_each(context: ToolContext, values: Sequence[str]) -> list[str | PgcontextError]:
    """For each valid id or prefix the whole id, or why there is none; prefixes cost one call together."""
    parsed = [parse_id(value) for value in values]
    prefixes = list(dict.fromkeys(value for value in parsed if is_prefix(value)))
    if not prefixes:
        return list(parsed)
    found: dict[str, str | PgcontextError] = {}
    for match in await context.store.resolve_prefixes(context.caller, prefixes):
        if match.is_ambiguous:
            found[match.prefix] = PrefixAmbiguous(match.prefix)
        else:
            found[match.prefix] = match.entry_id or PrefixNotFound(match.prefix)
    return [found[value] if is_prefix(value) else value for value in parsed]


async def resolve_ids(context: ToolContext, values: Sequence[str]) -> list[str]:
    """The whole ids, in order, each once; raises `PrefixNotFound` or `PrefixAmbiguous`."""
    ids: dict[str, None] = {}
    for found in await resolve_each(context, values):
        if isinstance(found, PgcontextError):
            raise found
        ids[found] = None
    return list(ids)


async def resolve_id(context: ToolContext, value: str) -> str:
    """The whole id of one id or prefix."""
    return (await resolve_ids(context, [value]))[0]
