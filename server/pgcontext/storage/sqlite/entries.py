"""Storing, changing, deleting and reading entries. Twin of `sql/entries/`.

The functions that write run inside an immediate transaction, which holds off every other writer.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import apsw

from pgcontext.errors import (
    AtIndex,
    DeleteRefused,
    EntryNotFound,
    MetadataTooLarge,
    ModifyRefused,
    PgcontextError,
    VersionConflict,
    VisibilityRefused,
)
from pgcontext.storage.sqlite.access import (
    Session,
    ensure_may_publish,
    ensure_may_write,
    get_entry_rights,
    in_order,
    with_rules,
)
from pgcontext.storage.sqlite.chunks import write_chunks
from pgcontext.storage.sqlite.parts import (
    add_images,
    add_tags,
    has_images,
    replace_images,
    replace_tags,
    replace_text,
)
from pgcontext.storage.sqlite.reading import read_entries
from pgcontext.storage.sqlite.util import (
    current_micros,
    days_before,
    is_same_json,
    merge_patch,
    new_entry_id,
    to_json,
)
from pgcontext.storage.values import (
    Entry,
    EntryChange,
    Image,
    NewEntry,
    Source,
    Statistics,
    StoredImage,
    Thread,
    Visibility,
    WriteOutcome,
)
from pgcontext.text.dates import format_timestamp
from pgcontext.text.metadata import fits

T = TypeVar("T")

# storing


def store_entries(session: Session, entries: Sequence[NewEntry], atomic: bool) -> list[WriteOutcome]:
    """See `Store.store_entries`."""
    ensure_may_write(session)
    return _write_each(session, entries, atomic, store_entry)


def _write_each(
    session: Session, items: Sequence[T], atomic: bool, write: Callable[[Session, T], tuple[str, bool]]
) -> list[WriteOutcome]:
    """Write the items in order; a refused one leaves nothing behind, and in an atomic batch nor do the others."""
    outcomes: list[WriteOutcome] = []
    for index, item in enumerate(items):
        try:
            with session.connection:  # a savepoint
                outcomes.append(WriteOutcome(index, *write(session, item)))
        except PgcontextError as refusal:
            if atomic:
                raise AtIndex(index, refusal) from refusal
            outcomes.append(WriteOutcome(index, None, error=refusal))
    return outcomes


def store_entry(session: Session, entry: NewEntry) -> tuple[str, bool]:
    """Merge an entry into the one it repeats, or insert it; its id and whether it is new."""
    content_hash = _content_hash(entry.text)
    if entry.deduplicate:
        repeated = find_repeated_entry(session, entry.thread_id, entry.source, content_hash)
        if repeated is not None:
            merge_entry(session, repeated, entry)
            return repeated, False
    return insert_entry(session, entry, content_hash), True


def find_repeated_entry(session: Session, thread_id: str, source: Source, content_hash: str) -> str | None:
    """The entry that a store of this text repeats, or None.

    It is the latest readable one of the thread, when it has this source and this text and is the caller's own.
    (Were a readable entry of the other source later, the text would be a new turn.)
    """
    for entry_id, *found in session.rows(_LATEST_OF_THREAD, thread_id=thread_id):
        if found == [source, content_hash, session.caller.id]:
            return str(entry_id)
    return None


_LATEST_OF_THREAD = with_rules("""
    select entry.id, entry.source, entry.content_hash, entry.owner
    from entry
    where entry.thread_id = :thread_id and {is_readable}
    order by entry.created_at desc, entry.id desc
    limit 1
""")


def insert_entry(session: Session, entry: NewEntry, content_hash: str) -> str:
    """Insert an entry of the caller; its id."""
    visibility = entry.visibility or session.policy.default_visibility
    if visibility == "public":
        ensure_may_publish(session)
    now = current_micros()
    entry_id = new_entry_id(now)
    session.execute(
        _INSERT,
        id=entry_id,
        thread_id=entry.thread_id,
        source=entry.source,
        content_type=_content_type(entry.images),
        metadata=to_json(entry.metadata or {}),
        content_hash=content_hash,
        visibility=visibility,
        now=now,
    )
    row_id = session.connection.last_insert_rowid()
    session.execute(_INSERT_TEXT, row_id=row_id, text=entry.text)
    write_chunks(session.connection, session.language, row_id, entry.text, entry.chunks)
    add_tags(session, entry_id, entry.tags or ())
    add_images(session, entry_id, entry.images or ())
    if session.policy.author_group_grants:
        session.execute(_GRANT_GROUPS, id=entry_id, now=now)
    return entry_id


_INSERT = """
    insert into entry (
        id, thread_id, source, content_type, metadata, content_hash, version, owner, visibility,
        created_at, updated_at
    )
    values (
        :id, :thread_id, :source, :content_type, :metadata, :content_hash, 1, :principal, :visibility,
        :now, :now
    )
"""
_INSERT_TEXT = "insert into entry_text (row_id, text_content) values (:row_id, :text)"
_GRANT_GROUPS = """
    insert into entry_grant (entry_id, principal_type, principal_id, permission, granted_by, created_at)
    select distinct :id, 'group', value, 'read', :principal, :now
    from json_each(:groups)
    where value <> ''
"""


def merge_entry(session: Session, entry_id: str, entry: NewEntry) -> None:
    """Merge a repeated store into its entry; the version stays when nothing differs."""
    ((stored_metadata, stored_tags),) = session.rows(_STORED_PARTS, id=entry_id)
    stored = json.loads(stored_metadata)
    metadata = stored | dict(entry.metadata or {})
    new_tags = set(entry.tags or ()) - set(json.loads(stored_tags))
    has_new_images = entry.images is not None and not has_images(session, entry_id, entry.images)
    if not new_tags and not has_new_images and is_same_json(metadata, stored):
        return
    add_tags(session, entry_id, sorted(new_tags))
    if has_new_images:
        replace_images(session, entry_id, entry.images or ())
    _update(
        session,
        entry_id,
        metadata=_metadata_json(metadata),
        content_type=_content_type(entry.images) if has_new_images else None,
    )


_STORED_PARTS = """
    select metadata, (select json_group_array(tag) from entry_tag where entry_id = entry.id)
    from entry
    where id = :id
"""


def _metadata_json(metadata: Mapping[str, Any]) -> str:
    if not fits(metadata):
        raise MetadataTooLarge
    return to_json(metadata)


def _content_type(images: Sequence[Image] | None) -> str:
    return "multimodal" if images else "text"


def _content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# changing


def update_entries(session: Session, changes: Sequence[EntryChange], atomic: bool) -> list[WriteOutcome]:
    """See `Store.update_entries`."""
    ensure_may_write(session)
    changed: Counter[str] = Counter()

    def write(session: Session, change: EntryChange) -> tuple[str, bool]:
        written = update_entry(session, change, changed[change.entry_id])
        changed[change.entry_id] += 1
        return written

    return _write_each(session, changes, atomic, write)


def update_entry(session: Session, change: EntryChange, changes_before: int = 0) -> tuple[str, bool]:
    """Apply one change; the id and False, because the entry is not new.

    `changes_before` is how often the same call has changed this entry already.
    """
    entry_id = change.entry_id
    for rights in get_entry_rights(session, [entry_id]):
        if not rights.is_writable:
            raise ModifyRefused(entry_id)
        if change.visibility is not None and not rights.is_owner:
            raise VisibilityRefused(entry_id)
        if change.expected_version not in (None, rights.version - changes_before):
            raise VersionConflict(entry_id)
        _apply(session, change)
        return entry_id, False
    raise EntryNotFound(entry_id)


def _apply(session: Session, change: EntryChange) -> None:
    entry_id = change.entry_id
    ((stored_visibility, stored_metadata),) = session.rows(
        "select visibility, metadata from entry where id = :id", id=entry_id
    )
    if change.visibility == "public" and stored_visibility != "public":
        ensure_may_publish(session)
    metadata = change.metadata
    if metadata is None and change.metadata_patch is not None:
        metadata = merge_patch(json.loads(stored_metadata), change.metadata_patch)
    if change.tags is not None:
        replace_tags(session, entry_id, change.tags)
    if change.images is not None:
        replace_images(session, entry_id, change.images)
    content_hash = None
    if change.text is not None:
        content_hash = _content_hash(change.text)
        replace_text(session, entry_id, change.text, content_hash, change.chunks)
    _update(
        session,
        entry_id,
        content_hash=content_hash,
        metadata=None if metadata is None else _metadata_json(metadata),
        visibility=change.visibility,
        content_type=None if change.images is None else _content_type(change.images),
    )


def _update(
    session: Session,
    entry_id: str,
    *,
    content_hash: str | None = None,
    metadata: str | None = None,
    visibility: Visibility | None = None,
    content_type: str | None = None,
) -> None:
    """Write the parts that are given, and count the version up."""
    session.execute(
        _UPDATE,
        id=entry_id,
        now=current_micros(),
        content_hash=content_hash,
        metadata=metadata,
        visibility=visibility,
        content_type=content_type,
    )


_UPDATE = """
    update entry
    set
        content_hash = coalesce(:content_hash, content_hash),
        metadata = coalesce(:metadata, metadata),
        visibility = coalesce(:visibility, visibility),
        content_type = coalesce(:content_type, content_type),
        version = version + 1,
        updated_at = :now
    where id = :id
"""


# deleting


def delete_entries(
    session: Session,
    entry_ids: Sequence[str] | None,
    thread_ids: Sequence[str] | None,
    source: Source | None,
    older_than_days: int | None,
) -> int:
    """See `Store.delete_entries`."""
    ensure_may_write(session)
    found = find_deletable(session, entry_ids, thread_ids, source, older_than_days)
    foreign = [entry_id for entry_id, is_owner in found if not is_owner]
    if foreign:
        raise DeleteRefused(foreign)
    session.execute(
        "delete from entry where id in (select value from json_each(:ids))",
        ids=to_json([entry_id for entry_id, _ in found]),
    )
    return len(found)


def find_deletable(
    session: Session,
    entry_ids: Sequence[str] | None,
    thread_ids: Sequence[str] | None,
    source: Source | None,
    older_than_days: int | None,
) -> list[tuple[str, bool]]:
    """The entries that meet every criterion that is not None, and whether the caller owns them.

    Among named ids the readable ones, in the order given; otherwise the caller's own.
    """
    criteria = (
        ("entry.id in (select value from json_each(:ids))", entry_ids),
        ("entry.thread_id in (select value from json_each(:threads))", thread_ids),
        ("entry.source = :source", source),
        ("entry.created_at < :before", older_than_days),
    )
    conditions = [condition for condition, value in criteria if value is not None]
    if not conditions:
        return []
    conditions.append("entry.owner = :principal" if entry_ids is None else "{is_readable}")
    rows = session.rows(
        with_rules(_DELETABLE.replace("{conditions}", " and ".join(conditions))),
        ids=to_json(entry_ids or ()),
        threads=to_json(thread_ids or ()),
        source=source,
        before=days_before(current_micros(), older_than_days or 0),
    )
    found = {entry_id: (entry_id, bool(is_owner)) for entry_id, is_owner in rows}
    return in_order(list(found) if entry_ids is None else entry_ids, found)


_DELETABLE = "select entry.id, entry.owner = :principal from entry where {conditions}"


# reading


def get_entries(session: Session, entry_ids: Sequence[str]) -> list[Entry]:
    """See `Store.get_entries`."""
    return read_entries(session, entry_ids)


def list_images(session: Session, entry_ids: Sequence[str]) -> list[StoredImage]:
    """See `Store.list_images`."""
    found: dict[str, list[StoredImage]] = {}
    for row in session.execute(_IMAGES, ids=to_json(entry_ids)):
        image = StoredImage(*row)
        found.setdefault(image.entry_id, []).append(image)
    return [image for images in in_order(entry_ids, found) for image in images]


_IMAGES = with_rules("""
    select
        entry_image.entry_id, entry_image.position, entry_image.data, entry_image.mime_type, entry_image.metadata
    from entry
    inner join entry_image on entry_image.entry_id = entry.id
    where entry.id in (select value from json_each(:ids)) and {is_readable}
    order by entry_image.position
""")


def list_threads(session: Session, limit: int | None, offset: int) -> list[Thread]:
    """See `Store.list_threads`."""
    rows = session.rows(_THREADS, limit=-1 if limit is None else limit, offset=0 if limit is None else offset)
    return [
        Thread(thread_id, entries, sources, multimodals, format_timestamp(first), format_timestamp(last), last_id)
        for thread_id, entries, sources, multimodals, first, last, last_id in rows
    ]


_THREADS = with_rules("""
    with figures as (
        select
            entry.thread_id,
            count(*) as entry_count,
            count(*) filter (where entry.source = 'user') as user_count,
            count(*) filter (where entry.content_type = 'multimodal') as multimodal_count,
            min(entry.created_at) as first_entry,
            max(entry.created_at) as last_entry
        from entry
        where {is_readable}
        group by entry.thread_id
    )

    select
        figures.thread_id,
        figures.entry_count,
        (figures.user_count > 0) + (figures.user_count < figures.entry_count),
        figures.multimodal_count,
        figures.first_entry,
        figures.last_entry,
        (
            select max(entry.id)
            from entry
            where entry.thread_id = figures.thread_id and entry.created_at = figures.last_entry and {is_readable}
        ) as last_id
    from figures
    order by figures.last_entry desc, last_id desc
    limit :limit
    offset :offset
""")


def get_statistics(session: Session) -> Statistics:
    """See `Store.get_statistics`."""
    ((entries, users, agents, texts, multimodals, threads, images, tags, indexed, embedded, vectors),) = (
        session.rows(_STATISTICS)
    )
    return Statistics(
        total_entries=entries,
        by_source={"user": users, "agent": agents},
        by_content_type={"text": texts, "multimodal": multimodals},
        total_threads=threads,
        total_images=images,
        unique_tags=tags,
        database_bytes=_database_bytes(session.connection),
        indexed_entries=indexed,
        embedded_entries=embedded,
        embedding_bytes=vectors * _VECTOR_BYTES,
    )


_VECTOR_BYTES = 768


def _database_bytes(connection: apsw.Connection) -> int | None:
    """The size of the database file once its write-ahead log is carried over; None in memory."""
    if not connection.filename:
        return None
    return int(connection.pragma("page_count") * connection.pragma("page_size"))


_STATISTICS = with_rules("""
    with readable as materialized (
        select entry.row_id, entry.id, entry.thread_id, entry.source, entry.content_type
        from entry
        where {is_readable}
    ),

    chunked as (
        select count(*) filter (where chunk_embedding.chunk_row_id is null) as pending
        from readable
        cross join chunk on chunk.entry_row_id = readable.row_id
        left join chunk_embedding on chunk_embedding.chunk_row_id = chunk.row_id
        group by chunk.entry_row_id
    )

    select
        count(*),
        count(*) filter (where source = 'user'),
        count(*) filter (where source = 'agent'),
        count(*) filter (where content_type = 'text'),
        count(*) filter (where content_type = 'multimodal'),
        count(distinct thread_id),
        (select count(*) from entry_image where entry_id in (select id from readable)),
        (
            select count(distinct entry_tag.tag)
            from readable
            cross join entry_tag on entry_tag.entry_id = readable.id
        ),
        (select count(*) from chunked),
        (select count(*) from chunked where pending = 0),
        (select count(*) from chunk_embedding)
    from readable
""")
