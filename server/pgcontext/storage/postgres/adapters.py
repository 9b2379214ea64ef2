"""Values in PostgreSQL's binary form: vectors that are sent, ids and times that are read."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

from pgcontext.text.dates import format_timestamp


@dataclass(frozen=True, slots=True)
class Halfvec:
    """A vector (float16, little endian) to be sent as pgvector's `halfvec`."""

    vector: bytes


@dataclass(frozen=True, slots=True)
class Halfvecs:
    """Vectors (float16, little endian) to be sent as an array of pgvector's `halfvec`, whose OID this is."""

    element_oid: int
    vectors: Sequence[bytes]


class HexLoader(Loader):
    """Reads a uuid as the 32 hex digits that the rest of the server knows."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return bytes(data).hex()


class TimestampLoader(Loader):
    """Reads a timestamp as the text that results show, whatever time zone and date style the session has."""

    format = Format.BINARY
    # PostgreSQL counts microseconds from 2000 on
    _EPOCH = 946_684_800_000_000

    def load(self, data: Buffer) -> str:
        return format_timestamp(int.from_bytes(data, "big", signed=True) + self._EPOCH)


class HalfvecDumper(Dumper):
    """Sends bytes (float16, little endian) as one `halfvec`."""

    format = Format.BINARY

    def dump(self, obj: Halfvec) -> bytes:
        return _halfvec(obj.vector)


class HalfvecsDumper(Dumper):
    """Sends `Halfvecs` as a one-dimensional array in PostgreSQL's binary form."""

    format = Format.BINARY

    def dump(self, obj: Halfvecs) -> bytes:
        parts = [struct.pack("!iiIii", 1, 0, obj.element_oid, len(obj.vectors), 1)]
        for vector in obj.vectors:
            parts += (struct.pack("!i", len(vector) + 4), _halfvec(vector))
        return b"".join(parts)


def _halfvec(vector: bytes) -> bytes:
    return HalfVector(np.frombuffer(vector, dtype="<f2")).to_binary()


def adapt(connection: AsyncConnection[Any]) -> None:
    """Let a connection send vectors, and read ids and times as the rest of the server knows them."""
    connection.adapters.register_loader("uuid", HexLoader)
    connection.adapters.register_loader("timestamptz", TimestampLoader)
    connection.adapters.register_dumper(Halfvec, HalfvecDumper)
    connection.adapters.register_dumper(Halfvecs, HalfvecsDumper)
