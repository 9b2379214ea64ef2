"""Who is calling, and what that principal may read and change. Twin of `sql/access/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import apsw

from pgcontext.errors import NoPrincipal, PublishRefused, ReadOnlyPrincipal
from pgcontext.principal import Principal
from pgcontext.storage.sqlite.util import to_json
from pgcontext.storage.sqlite.vector_index import VectorIndex
from pgcontext.storage.values import AccessPolicy, EntryRights, WordRanking

T = TypeVar("T")
Value = str | int | float | bytes | None

_GRANT_TO_CALLER = """
    select 1 from entry_grant
    where entry_grant.entry_id = entry.id and (
        entry_grant.principal_type = 'user' and entry_grant.principal_id = :principal
        or entry_grant.principal_type = 'group'
        and entry_grant.principal_id in (select value from json_each(:groups))
    )
"""
_RULES = {
    "{is_readable}": f"(entry.owner = :principal or entry.visibility = 'public' or exists ({_GRANT_TO_CALLER}))",
    "{is_changeable}": "(entry.owner = :principal"
    f" or exists ({_GRANT_TO_CALLER} and entry_grant.permission = 'write'))",
}


def with_rules(query: str) -> str:
    """Write out the rules of access that a query on `entry` names: `{is_readable}` and `{is_changeable}`."""
    for name, rule in _RULES.items():
        query = query.replace(name, rule)
    return query


@dataclass(frozen=True, slots=True)
class Session:
    """One call: its connection, inside a transaction, and the principal it runs as."""

    connection: apsw.Connection
    caller: Principal
    policy: AccessPolicy
    identity: dict[str, Value]
    vectors: VectorIndex
    language: str
    word_ranking: WordRanking

    @classmethod
    def begin(
        cls,
        connection: apsw.Connection,
        caller: Principal,
        policy: AccessPolicy,
        vectors: VectorIndex,
        language: str = "english",
        word_ranking: WordRanking = "idf",
    ) -> Session:
        """Raises `NoPrincipal` when nobody is calling."""
        if not caller.id:
            raise NoPrincipal
        identity: dict[str, Value] = {"principal": caller.id, "groups": to_json(caller.groups)}
        return cls(connection, caller, policy, identity, vectors, language, word_ranking)

    def execute(self, query: str, **bindings: Value) -> apsw.Cursor:
        """Run a statement; beside the bindings given, it may name `:principal` and `:groups`."""
        return self.connection.execute(query, self.identity | bindings)

    def rows(self, query: str, **bindings: Value) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.execute(query, **bindings).fetchall()


def ensure_may_write(session: Session) -> None:
    """Raises `ReadOnlyPrincipal` for the anonymous principal."""
    if session.caller.id == session.policy.anonymous_principal:
        raise ReadOnlyPrincipal("writing")


def ensure_may_publish(session: Session) -> None:
    """Raises `PublishRefused` when the deployment names a publish role that the caller lacks."""
    role = session.policy.publish_role
    if role is not None and role not in session.caller.roles:
        raise PublishRefused(role)


def get_entry_rights(session: Session, entry_ids: Sequence[str]) -> list[EntryRights]:
    """Version and rights of the readable ones among these entries, in the order given, each once."""
    rows = session.rows(_RIGHTS, ids=to_json(entry_ids))
    found = {row[0]: EntryRights(row[0], row[1], bool(row[2]), bool(row[3])) for row in rows}
    return in_order(entry_ids, found)


_RIGHTS = with_rules("""
    select entry.id, entry.version, entry.owner = :principal, {is_changeable}
    from entry
    where entry.id in (select value from json_each(:ids)) and {is_readable}
""")


def in_order(entry_ids: Sequence[str], found: dict[str, T]) -> list[T]:
    """What was found, in the order of the ids, each once."""
    return [found[entry_id] for entry_id in dict.fromkeys(entry_ids) if entry_id in found]
