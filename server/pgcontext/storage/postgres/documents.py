"""Arguments as the stored functions take them: JSON documents, and the vectors of chunks as binary arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import anyio.to_thread

from pgcontext.storage.postgres.adapters import Halfvecs
from pgcontext.storage.values import EntryChange, EntryFilter, ManifestItem, NewChunk, NewEntry
from pgcontext.text.query import QueryNode, to_document

Write = NewEntry | EntryChange
_LONG = 256 * 1024


WriteArguments = tuple[str, Halfvecs | None, list[bytes | None] | None]


async def write_arguments(items: Sequence[Write], halfvec_oid: int) -> WriteArguments:
    """The documents, embeddings and token codes of a write; made in a thread where there is much of it."""
    if sum(map(_size, items)) > _LONG:
        return await anyio.to_thread.run_sync(_write_arguments, items, halfvec_oid)
    return _write_arguments(items, halfvec_oid)


def _size(item: Write) -> int:
    return len(item.text or "") + sum(len(image.data) for image in item.images or ())


def _write_arguments(items: Sequence[Write], halfvec_oid: int) -> WriteArguments:
    embedded: list[NewChunk] = []
    documents = json.dumps([_document(item, embedded) for item in items], ensure_ascii=False)
    if not embedded:
        return documents, None, None
    vectors = [chunk.embedding for chunk in embedded if chunk.embedding is not None]
    return documents, Halfvecs(halfvec_oid, vectors), [chunk.token_codes for chunk in embedded]


def _document(item: Write, embedded: list[NewChunk]) -> dict[str, Any]:
    """What is None is absent; chunks with an embedding are added to `embedded` and say where they stand there."""
    document = {name: getattr(item, name) for name in item.__slots__}
    if item.images is not None:
        document["images"] = [_without_none(asdict(image)) for image in item.images]
    if item.chunks is not None:
        document["chunks"] = [_span(chunk, embedded) for chunk in item.chunks]
    return _without_none(document)


def _span(chunk: NewChunk, embedded: list[NewChunk]) -> list[int | None]:
    if chunk.embedding is None:
        return [chunk.begin, chunk.end, None]
    embedded.append(chunk)
    return [chunk.begin, chunk.end, len(embedded)]


def query_document(query: QueryNode) -> str:
    """A query by words as the stored functions take it."""
    return json.dumps(to_document(query), ensure_ascii=False)


def _without_none(document: dict[str, Any]) -> dict[str, Any]:
    """The parts of a document that are there."""
    return {name: value for name, value in document.items() if value is not None}


def filter_document(filter: EntryFilter) -> str:
    """A filter as compile_filter() takes it."""
    document: dict[str, Any] = {
        "thread_id": filter.thread_id,
        "source": filter.source,
        "tags": list(filter.tags) or None,
        "content_type": filter.content_type,
        "created_from": filter.created_from and filter.created_from.isoformat(),
        "created_to": filter.created_to and filter.created_to.isoformat(),
        "metadata": [asdict(condition) for condition in filter.metadata] or None,
    }
    return json.dumps(_without_none(document), ensure_ascii=False)


def manifest_document(manifest: Sequence[ManifestItem]) -> str:
    """A manifest as plan_sync() takes it."""
    # a thousand items, so without the detours of asdict()
    items = [
        {"source_id": item.source_id, "text_digest": item.text_digest, "meta_digest": item.meta_digest}
        for item in manifest
    ]
    return json.dumps(items, ensure_ascii=False)
