"""The place where a page ends, as a string that means nothing to whoever carries it to the next page.

A cursor holds a place in a list that is the caller's own and is read anew for every page, so that it opens
nothing, whatever somebody makes of it. The check at its end tells what was cut, mistyped or taken from another
list.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

from pgcontext.text.characters import check_characters
from pgcontext.text.ids import ID_LENGTH

INVALID_CURSOR = "invalid cursor"
_ID_BYTES = ID_LENGTH // 2
_CHECK_BYTES = 8


def make_cursor(thread_id: str, source_id: str, entry_id: str) -> str:
    """The cursor of the page that ends with this entry of a thread's corpus."""
    place = bytes.fromhex(entry_id) + source_id.encode()
    return urlsafe_b64encode(place + _check(thread_id, place)).decode().rstrip("=")


def parse_cursor(thread_id: str, cursor: str) -> tuple[str, str]:
    """The source id and the entry id that `make_cursor` was given; ValueError for any other string."""
    try:
        data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        place, check = data[:-_CHECK_BYTES], data[-_CHECK_BYTES:]
        source_id = check_characters(place[_ID_BYTES:].decode())
        entry_id = place[:_ID_BYTES].hex()
    except ValueError:
        raise ValueError(INVALID_CURSOR) from None
    if check != _check(thread_id, place) or make_cursor(thread_id, source_id, entry_id) != cursor:
        raise ValueError(INVALID_CURSOR)
    return source_id, entry_id


def _check(thread_id: str, place: bytes) -> bytes:
    return sha256(thread_id.encode() + b"\x00" + place).digest()[:_CHECK_BYTES]
