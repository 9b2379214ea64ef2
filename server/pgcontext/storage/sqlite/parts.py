"""What belongs to an entry and is kept apart from it: its text, its tags and its images."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from pgcontext.storage.sqlite.access import Session
from pgcontext.storage.sqlite.chunks import write_chunks
from pgcontext.storage.values import Image, NewChunk


def replace_text(
    session: Session, entry_id: str, text: str, content_hash: str, chunks: Sequence[NewChunk] | None
) -> None:
    """Give an entry this text in place of the one it has, with its chunks; another text makes its summary void.

    The chunks of a text that stays are replaced only by chunks with the embeddings that it has been waiting for.
    """
    ((row_id, stored_hash),) = session.rows("select row_id, content_hash from entry where id = :id", id=entry_id)
    is_other = stored_hash != content_hash
    if is_other:
        session.execute(
            "update entry_text set text_content = :text, summary = null where row_id = :row_id",
            row_id=row_id,
            text=text,
        )
    if is_other or any(chunk.embedding for chunk in chunks or ()):
        write_chunks(session.connection, session.language, row_id, text, chunks)


def add_tags(session: Session, entry_id: str, tags: Sequence[str]) -> None:
    """Give an entry further tags."""
    for tag in tags:
        session.execute(_INSERT_TAG, id=entry_id, tag=tag)


_INSERT_TAG = "insert into entry_tag (entry_id, tag) values (:id, :tag) on conflict do nothing"


def replace_tags(session: Session, entry_id: str, tags: Sequence[str]) -> None:
    """Give an entry these tags in place of those it has."""
    session.execute("delete from entry_tag where entry_id = :id", id=entry_id)
    add_tags(session, entry_id, tags)


def add_images(session: Session, entry_id: str, images: Sequence[Image]) -> None:
    """Give an entry its images."""
    for position, image in enumerate(images):
        session.execute(
            _INSERT_IMAGE,
            id=entry_id,
            position=position,
            data=base64.b64decode(image.data),
            mime_type=image.mime_type,
            metadata=image.metadata,
        )


_INSERT_IMAGE = """
    insert into entry_image (entry_id, position, mime_type, metadata, data)
    values (:id, :position, :mime_type, :metadata, :data)
"""


def replace_images(session: Session, entry_id: str, images: Sequence[Image]) -> None:
    """Give an entry these images in place of those it has."""
    session.execute("delete from entry_image where entry_id = :id", id=entry_id)
    add_images(session, entry_id, images)


def has_images(session: Session, entry_id: str, images: Sequence[Image]) -> bool:
    """Whether an entry has just these images, in this order."""
    stored = session.rows(
        "select data, mime_type, metadata from entry_image where entry_id = :id order by position", id=entry_id
    )
    return stored == [(base64.b64decode(image.data), image.mime_type, image.metadata) for image in images]
