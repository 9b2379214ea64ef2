"""Entries and images as results show them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from pgcontext.storage.values import Entry, StoredImage
from pgcontext.tools.base import ToolContext
from pgcontext.tools.offloading import run_off_loop

Images = dict[str, list[dict[str, Any]]]


def render_entry(entry: Entry, middle: dict[str, Any], images: Images | None) -> dict[str, Any]:
    """An entry; `middle` holds what one tool adds after the text, `images` those of the page if asked for."""
    rendered = {
        "id": entry.id,
        "thread_id": entry.thread_id,
        "source": entry.source,
        "content_type": entry.content_type,
        "text_content": entry.text_content,
        **middle,
        "metadata": entry.metadata,
        "tags": entry.tags,
    }
    if images is not None:
        rendered["images"] = images.get(entry.id, [])
    rendered["created_at"] = entry.created_at
    rendered["updated_at"] = entry.updated_at
    rendered["visibility"] = entry.visibility
    rendered["is_owner"] = entry.is_owner
    return rendered


async def load_images(context: ToolContext, entries: Sequence[Entry]) -> Images:
    """The images of those of the entries that have any, by entry id, in their order."""
    ids = [entry.id for entry in entries if entry.content_type == "multimodal"]
    if not ids:
        return {}
    stored = await context.store.list_images(context.caller, ids)
    return await run_off_loop([image.data for image in stored], _encode, stored)


def _encode(stored: Sequence[StoredImage]) -> Images:
    images: Images = {}
    for image in stored:
        rendered = {"data": base64.b64encode(image.data).decode(), "mime_type": image.mime_type}
        if image.metadata is not None:
            rendered["metadata"] = image.metadata
        images.setdefault(image.entry_id, []).append(rendered)
    return images
