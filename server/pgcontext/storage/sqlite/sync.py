"""What a sync changes in a corpus, and what the corpus holds. Twin of `sql/sync/`.

The column `entry.source_id` is filled in by the database, for managed entries alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Literal

from pgcontext.storage.sqlite.access import Session, Value, with_rules
from pgcontext.storage.sqlite.util import to_json
from pgcontext.storage.values import IngestState, ManifestItem, PlannedDelete, PlannedUpdate, SyncPlan

_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class _Compared:
    """An entry of a source that the manifest names."""

    index: int
    entry_id: str
    source_id: str
    text_differs: bool
    meta_differs: bool


def plan_sync(
    session: Session,
    thread_id: str,
    manifest: Sequence[ManifestItem],
    source_id_after: str | None,
    source_id_through: str | None,
) -> SyncPlan:
    """See `Store.plan_sync`."""
    bindings: dict[str, Value] = {
        "thread": thread_id,
        # a source id is never empty, and every blob comes after every text
        "after": source_id_after or "",
        "through": b"" if source_id_through is None else source_id_through,
        "manifest": to_json([(item.source_id, item.text_digest, item.meta_digest) for item in manifest]),
        "most": _MOST_LISTED,
    }
    ((own_count, foreign_count),) = session.rows(_COUNTS, **bindings)
    named = [_Compared(*row) for row in session.execute(_NAMED, **bindings)]
    # of several entries of one source, the first is the one to stay
    found = {index: list(entries) for index, entries in groupby(named, attrgetter("index"))}
    ordinary = [index for index, item in enumerate(manifest) if item.text_digest is not None]
    pairs = [found[index][0] for index in ordinary if index in found]
    duplicates = [entry for index in ordinary for entry in found.get(index, ())[1:]]
    updates = [
        PlannedUpdate(pair.index, pair.entry_id, _change(pair))
        for pair in pairs
        if pair.text_differs or pair.meta_differs
    ]
    absent = session.execute(_ABSENT, **bindings)
    surplus = [PlannedDelete(entry_id, source_id, "absent") for entry_id, source_id in absent]
    surplus += [PlannedDelete(entry.entry_id, entry.source_id, "duplicate") for entry in duplicates]
    return SyncPlan(
        creates=[index for index in ordinary if index not in found],
        updates=updates,
        deletes=sorted(surplus, key=attrgetter("source_id", "entry_id"))[:_MOST_LISTED],
        deletes_total=own_count - len(named) + len(duplicates),
        unchanged_count=len(pairs) - len(updates),
        kept_count=len(manifest) - len(ordinary),
        foreign_count=foreign_count,
    )


def _change(pair: _Compared) -> Literal["text", "metadata", "both"]:
    if not pair.text_differs:
        return "metadata"
    return "both" if pair.meta_differs else "text"


_MANAGED = "entry.thread_id = :thread and entry.owner = :principal and entry.source_id is not null"
_IN_RANGE = "entry.source_id > :after and entry.source_id <= :through"
_OTHERS = f"entry.thread_id = :thread and entry.source_id is not null and {_IN_RANGE} and {{is_readable}}"
# others' entries lie before and after the caller's own in the index
_COUNTS = with_rules(f"""
    select
        (select count(*) from entry where {_MANAGED} and {_IN_RANGE}),
        (select count(*) from entry where entry.owner < :principal and {_OTHERS})
        + (select count(*) from entry where entry.owner > :principal and {_OTHERS})
""")
_NAMED = f"""
    with item as materialized (
        select key as place, value ->> 0 as source_id, value ->> 1 as text_digest, value ->> 2 as meta_digest
        from json_each(:manifest)
    )

    select
        item.place,
        entry.id,
        item.source_id,
        entry.content_hash <> item.text_digest as text_differs,
        lower(entry.metadata ->> '$.ingest.meta_digest') <> item.meta_digest as meta_differs
    from item
    cross join entry on {_MANAGED} and entry.source_id = item.source_id
    order by item.place, text_differs, meta_differs, entry.created_at desc, entry.id desc
"""
_ABSENT = f"""
    select entry.id, entry.source_id
    from entry
    where {_MANAGED} and {_IN_RANGE}
        and entry.source_id not in (select value ->> 0 from json_each(:manifest))
    order by entry.source_id, entry.id
    limit :most
"""


def list_ingest_state(
    session: Session, thread_id: str, limit: int, after_source_id: str | None, after_entry_id: str | None
) -> list[IngestState]:
    """See `Store.list_ingest_state`."""
    rows = session.execute(
        _STATE, thread=thread_id, limit=limit, source_id=after_source_id or "", entry_id=after_entry_id or ""
    )
    return [IngestState(*row) for row in rows]


_STATE = f"""
    select
        entry.id,
        entry.metadata ->> '$.ingest.source_id',
        entry.content_hash,
        entry.metadata ->> '$.ingest.meta_digest',
        entry.metadata ->> '$.ingest.synced_at'
    from entry
    where {_MANAGED} and (entry.source_id, entry.id) > (:source_id, :entry_id)
    order by entry.source_id, entry.id
    limit :limit
"""
