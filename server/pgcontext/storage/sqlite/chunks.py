"""The spans of texts that search looks at, their words and their embeddings. Twin of `sql/chunks/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import apsw

from pgcontext.errors import WrongChunks
from pgcontext.storage.values import NewChunk
from pgcontext.text.analysis import LANGUAGES, analyze_text

_SIZE = 1500
_OVERLAP = 150
_DIMENSIONS = 384
_WHITE_SPACE = re.compile(r"[ \t\n\v\f\r]")


def split_text(text: str) -> list[NewChunk]:
    """Spans of at most 1500 characters, cut at white space, that overlap by up to 150 and cover the text."""
    spans = []
    begin = 0
    while True:
        end = min(begin + _SIZE, len(text))
        if end < len(text):
            # behind a white space, but not before the middle
            tail = text[begin + _SIZE // 2 : end][::-1]
            found = _WHITE_SPACE.search(tail)
            end -= found.start() if found else 0
        spans.append(NewChunk(begin, end))
        if end >= len(text):
            return spans
        # the next one begins behind the first white space of the overlap
        found = _WHITE_SPACE.search(text, end - _OVERLAP, end)
        begin = found.end() if found else end - _OVERLAP


def write_chunks(
    connection: apsw.Connection, language: str, entry_row_id: int, text: str, chunks: Sequence[NewChunk] | None
) -> None:
    """Give an entry these chunks of its text in place of those it has; without any, those of `split_text`.

    Raises `WrongChunks` unless they are in order, together cover the text and end with it.
    """
    chunks = split_text(text) if chunks is None else chunks
    _check(text, chunks)
    connection.execute("delete from chunk where entry_row_id = ?", (entry_row_id,))
    for index, chunk in enumerate(chunks):
        analyzed = analyze_text(text[chunk.begin : chunk.end], language)
        connection.execute(
            _INSERT,
            (entry_row_id, index, chunk.begin, chunk.end, len(chunks) > 1, analyzed.word_count),
        )
        row_id = connection.last_insert_rowid()
        connection.execute(_INSERT_WORDS, (row_id, " ".join(analyzed.words), " ".join(analyzed.forms)))
        if chunk.embedding is not None:
            connection.execute(_INSERT_EMBEDDING, (row_id, chunk.embedding, chunk.token_codes))


_INSERT = """
    insert into chunk (entry_row_id, chunk_index, begin_offset, end_offset, is_part, word_count)
    values (?, ?, ?, ?, ?, ?)
"""
_INSERT_WORDS = "insert into chunk_words (rowid, words, forms) values (?, ?, ?)"
_INSERT_EMBEDDING = "insert into chunk_embedding (chunk_row_id, embedding, token_codes) values (?, ?, ?)"


def _check(text: str, chunks: Sequence[NewChunk]) -> None:
    covered = 0
    last_begin = -1
    for chunk in chunks:
        if not (last_begin < chunk.begin <= covered < chunk.end):
            raise WrongChunks
        if chunk.embedding is not None and len(chunk.embedding) != 2 * _DIMENSIONS:
            raise ValueError(f"An embedding has {_DIMENSIONS} dimensions")
        last_begin, covered = chunk.begin, chunk.end
    if covered != len(text):
        raise WrongChunks


def has_stale_words(connection: apsw.Connection, language: str) -> bool:
    """Whether there are chunks with words of another language."""
    ((has_chunks,),) = connection.execute("select exists (select 1 from chunk)").fetchall()
    return bool(has_chunks) and connection.pragma("user_version") != _language_number(language)


def note_language(connection: apsw.Connection, language: str) -> None:
    """Note that all words are in this language now."""
    connection.pragma("user_version", _language_number(language))


def _language_number(language: str) -> int:
    return LANGUAGES.index(language) + 1


def renew_words(connection: apsw.Connection, language: str, after: int, limit: int) -> int | None:
    """Derive the words of up to `limit` entries behind this row anew; the last of them, None when done."""
    last = None
    rows: list[Any] = connection.execute(_TEXTS, (after, limit)).fetchall()
    for last, text in rows:
        spans: list[Any] = connection.execute(_SPANS, (last,)).fetchall()
        for row_id, begin, end in spans:
            analyzed = analyze_text(text[begin:end], language)
            connection.execute("update chunk set word_count = ? where row_id = ?", (analyzed.word_count, row_id))
            connection.execute("delete from chunk_words where rowid = ?", (row_id,))
            connection.execute(_INSERT_WORDS, (row_id, " ".join(analyzed.words), " ".join(analyzed.forms)))
    return last


_TEXTS = "select row_id, text_content from entry_text where row_id > ? order by row_id limit ?"
_SPANS = "select row_id, begin_offset, end_offset from chunk where entry_row_id = ?"


def backfill_chunks(connection: apsw.Connection, language: str, after: int, limit: int) -> int | None:
    """Give chunks to up to `limit` entries behind this row that have none; the last of them, None when done."""
    last = None
    rows: list[Any] = connection.execute(_WITHOUT_CHUNKS, (after, limit)).fetchall()
    for last, text in rows:
        write_chunks(connection, language, last, text, None)
    return last


_WITHOUT_CHUNKS = """
    select entry_text.row_id, entry_text.text_content
    from entry_text
    where
        entry_text.row_id > ?
        and not exists (select 1 from chunk where chunk.entry_row_id = entry_text.row_id)
    order by entry_text.row_id
    limit ?
"""
