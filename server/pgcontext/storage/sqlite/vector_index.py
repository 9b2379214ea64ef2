"""All embeddings of a database file in memory, to find the nearest ones without reading the file.

The file holds the truth. This holds each vector as 384 whole numbers of one byte and their scale, good enough
to find somewhat more candidates than are wanted, to be compared exactly afterwards. It is filled when it is
first asked and brought up to date each time: numbers of chunks only grow and an embedding comes with its chunk,
so what is new, from whatever process, is what has a higher number. What was deleted stays until it shows up
among the nearest, or until the arrays grow.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384
_BATCH = 1024
_FIRST_CAPACITY = 1024
_LEVELS = 127


@dataclass(slots=True)
class _Arrays:
    """Room for vectors, of which the first `size` are there; distances to the others are infinite."""

    chunk_row_ids: NDArray[np.int64]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    # the square of a vector's length, infinite for one that was deleted
    squares: NDArray[np.float32]
    size: int = 0

    @classmethod
    def of_capacity(cls, capacity: int) -> _Arrays:
        return cls(
            np.zeros(capacity, np.int64),
            np.zeros((capacity, DIMENSIONS), np.int8),
            np.zeros(capacity, np.float32),
            np.zeros(capacity, np.float32),
        )

    def append(self, chunk_row_ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
        begin, end = self.size, self.size + len(vectors)
        scales = np.abs(vectors).max(axis=1) / _LEVELS
        self.chunk_row_ids[begin:end] = chunk_row_ids
        self.codes[begin:end] = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None])
        self.scales[begin:end] = scales
        self.squares[begin:end] = np.einsum("ij,ij->i", vectors, vectors)
        # last, so that a search beside this sees whole vectors only
        self.size = end

    def without_deleted(self, capacity: int) -> _Arrays:
        alive = np.isfinite(self.squares[: self.size])
        kept = _Arrays.of_capacity(capacity)
        kept.size = int(alive.sum())
        for old, new in (
            (self.chunk_row_ids, kept.chunk_row_ids),
            (self.codes, kept.codes),
            (self.scales, kept.scales),
            (self.squares, kept.squares),
        ):
            new[: kept.size] = old[: self.size][alive]
        return kept


@dataclass(frozen=True, slots=True)
class Distances:
    """Chunks and their squared distances to a vector, in no order; nearly exact."""

    chunk_row_ids: NDArray[np.int64]
    squares: NDArray[np.float32]
    lengths: NDArray[np.float32]
    horizon: int

    def nearest(self, count: int) -> list[int]:
        """The numbers of the nearest chunks, nearest first."""
        return self._rows(self.squares, np.arange(len(self.squares)), count)

    def nearest_among(self, chunk_row_ids: Sequence[int]) -> list[int]:
        """Those of these chunks that have an embedding, nearest first."""
        places = np.flatnonzero(np.isin(self.chunk_row_ids, np.array(chunk_row_ids, np.int64)))
        return self._rows(self.squares[places], places, len(places))

    def _rows(self, squares: NDArray[np.float32], places: NDArray[np.intp], count: int) -> list[int]:
        if count < len(squares):
            chosen = np.argpartition(squares, count)[:count]
            squares, places = squares[chosen], places[chosen]
        order = np.argsort(squares, kind="stable")
        order = order[np.isfinite(squares[order])]
        rows: list[int] = self.chunk_row_ids[places[order]].tolist()
        return rows

    def forget(self, chunk_row_ids: Sequence[int]) -> None:
        """Never find these again, which are no longer stored; those too new for the transaction may be."""
        gone = [row_id for row_id in chunk_row_ids if row_id <= self.horizon]
        self.lengths[np.searchsorted(self.chunk_row_ids, gone)] = np.inf


class VectorIndex:
    """The embeddings of one database, for all its reading threads."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._arrays = _Arrays.of_capacity(_FIRST_CAPACITY)
        self._last = 0

    def measure(self, connection: apsw.Connection, vector: bytes) -> Distances:
        """How far every chunk lies from a vector; among them may be some that the transaction does not see."""
        with self._turn:
            horizon = self._refresh(connection)
            arrays, size = self._arrays, self._arrays.size
        squares = _squared_distances(arrays, size, to_floats(vector)[0])
        return Distances(arrays.chunk_row_ids[:size], squares, arrays.squares, horizon)

    def _refresh(self, connection: apsw.Connection) -> int:
        """Fetch what is new; the highest number that this transaction sees."""
        horizon: int = connection.execute(_HIGHEST).get
        rows = connection.execute(_NEWER, (self._last,)) if horizon > self._last else ()
        for batch in _batches(iter(rows)):
            chunk_row_ids = [row_id for row_id, _ in batch]
            vectors = to_floats(b"".join(embedding for _, embedding in batch))
            self._make_room(connection, len(batch))
            self._arrays.append(chunk_row_ids, vectors)
            self._last = chunk_row_ids[-1]
        return horizon

    def _make_room(self, connection: apsw.Connection, count: int) -> None:
        needed = self._arrays.size + count
        if needed > len(self._arrays.squares):
            self._mark_deleted(connection)
            self._arrays = self._arrays.without_deleted(2 * needed)

    def _mark_deleted(self, connection: apsw.Connection) -> None:
        stored = np.fromiter((row_id for (row_id,) in connection.execute(_ALL)), np.int64)
        known = self._arrays.chunk_row_ids[: self._arrays.size]
        # what another thread has fetched may be too new for this transaction
        is_old = known <= stored.max(initial=0)
        self._arrays.squares[: len(known)][is_old & ~np.isin(known, stored, assume_unique=True)] = np.inf


_HIGHEST = "select coalesce(max(chunk_row_id), 0) from chunk_embedding"
_NEWER = "select chunk_row_id, embedding from chunk_embedding where chunk_row_id > ? order by chunk_row_id"
_ALL = "select chunk_row_id from chunk_embedding"


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch


def to_floats(vectors: bytes) -> NDArray[np.float32]:
    """Vectors (float16, little endian) one after the other, as rows."""
    return np.frombuffer(vectors, "<f2").reshape(-1, DIMENSIONS).astype(np.float32)


def _squared_distances(arrays: _Arrays, size: int, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """In steps that fit the cache of a processor, for the numbers have to be widened to be multiplied."""
    products = np.empty(size, np.float32)
    wide = np.empty((_BATCH, DIMENSIONS), np.float32)
    for begin in range(0, size, _BATCH):
        end = min(begin + _BATCH, size)
        np.copyto(wide[: end - begin], arrays.codes[begin:end])
        np.dot(wide[: end - begin], query, out=products[begin:end])
    distances: NDArray[np.float32] = arrays.squares[:size] - 2 * products * arrays.scales[:size]
    return distances
