"""Finding an entry by the beginning of its id. Twin of `sql/navigation/`."""

from __future__ import annotations

from collections.abc import Sequence

from pgcontext.storage.sqlite.access import Session, with_rules
from pgcontext.storage.store import PrefixMatch


def resolve_prefixes(session: Session, prefixes: Sequence[str]) -> list[PrefixMatch]:
    """See `Store.resolve_prefixes`."""
    return [_resolve(session, prefix) for prefix in prefixes]


def _resolve(session: Session, prefix: str) -> PrefixMatch:
    ids = [entry_id for (entry_id,) in session.execute(_WITH_PREFIX, first=prefix, last=prefix.ljust(32, "f"))]
    return PrefixMatch(prefix, ids[0] if len(ids) == 1 else None, len(ids) > 1)


_WITH_PREFIX = with_rules("""
    select entry.id
    from entry
    where entry.id >= :first and entry.id <= :last and {is_readable}
    limit 2
""")
