"""Reading whole entries, for every function that returns some."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pgcontext.storage.sqlite.access import Session, in_order, with_rules
from pgcontext.storage.sqlite.util import to_json
from pgcontext.storage.values import ContentType, Entry, Source, Visibility
from pgcontext.text.dates import format_timestamp

# a code point takes at most so many bytes in UTF-8
_LONGEST_CODE_POINT = 4
_MAXIMUM = 2**63 - 1
# bytes that are read sooner than skipped
_SHORT_TEXT = 16_384


def read_entries(session: Session, entry_ids: Sequence[str], text_length: int | None = None) -> list[Entry]:
    """The readable ones among these entries, in the order given, each once.

    Texts are whole, or cut after `text_length` code points.
    """
    # one code point more than asked for tells whether there is more
    octets = _MAXIMUM if text_length is None else max((text_length + 1) * _LONGEST_CODE_POINT, _SHORT_TEXT)
    found = {}
    for row_id, entry_id, text, *columns in session.execute(_ENTRIES, ids=to_json(entry_ids), octets=octets):
        if text is None:
            text = _beginning_of_text(session, row_id, octets)
        found[entry_id] = _entry(entry_id, text, text_length, *columns)
    return in_order(entry_ids, found)


_ENTRIES = with_rules("""
    select
        entry.row_id,
        entry.id,
        iif(octet_length(entry_text.text_content) <= :octets, entry_text.text_content, null),
        entry.thread_id,
        entry.source,
        entry.content_type,
        entry.metadata,
        (
            select json_group_array(entry_tag.tag order by entry_tag.tag)
            from entry_tag
            where entry_tag.entry_id = entry.id
        ),
        entry_text.summary,
        entry.visibility,
        entry.owner = :principal,
        entry.created_at,
        entry.updated_at
    from entry
    inner join entry_text on entry_text.row_id = entry.row_id
    where entry.id in (select value from json_each(:ids)) and {is_readable}
""")


def _beginning_of_text(session: Session, row_id: int, octets: int) -> str:
    """The first bytes of a long text; a query would read all of it to cut it."""
    with session.connection.blob_open("main", "entry_text", "text_content", row_id, False) as blob:
        beginning = blob.read(octets)
    return beginning.decode(errors="ignore")


def _entry(
    entry_id: str,
    text: str,
    text_length: int | None,
    thread_id: str,
    source: Source,
    content_type: ContentType,
    metadata: str,
    tags: str,
    summary: str | None,
    visibility: Visibility,
    is_owner: int,
    created_at: int,
    updated_at: int,
) -> Entry:
    return Entry(
        id=entry_id,
        thread_id=thread_id,
        source=source,
        content_type=content_type,
        text_content=text[:text_length],
        is_text_content_truncated=text_length is not None and len(text) > text_length,
        metadata=json.loads(metadata),
        tags=json.loads(tags),
        summary=summary,
        visibility=visibility,
        is_owner=bool(is_owner),
        created_at=format_timestamp(created_at),
        updated_at=format_timestamp(updated_at),
    )
