"""WordPiece, the tokenisation of BERT models whose vocabulary is lower case ("uncased").

The steps are those of the reference implementation: remove control characters, set ideographs and punctuation
apart, decompose and drop accents, lower the case, split at white space, then cover each word with the longest
pieces of the vocabulary from left to right (Devlin et al. 2019; Wu et al. 2016, section 4.1).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_MAX_WORD_LENGTH = 100
_CACHED_WORDS = 16_384
_CHARACTERS_PER_TOKEN = 100
_ASCII_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Text to token ids of one vocabulary. Safe to use from several threads."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        """`vocabulary` gives the pieces in the order of their ids; pieces inside a word begin with `##`."""
        self._ids = {piece: index for index, piece in enumerate(vocabulary)}
        self._begin, self._end, self._unknown = (self._ids[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._pieces = lru_cache(_CACHED_WORDS)(self._split_word)

    def encode(self, text: str, max_tokens: int) -> list[int]:
        """The ids of the text between those of [CLS] and [SEP], at most `max_tokens` in all.

        Text that cannot matter any more is not looked at, so the time does not grow with it.
        """
        ids = [self._begin]
        limit = max_tokens - 1
        for word in split_words(text[: max_tokens * _CHARACTERS_PER_TOKEN]):
            ids.extend(self._pieces(word))
            if len(ids) >= limit:
                del ids[limit:]
                break
        ids.append(self._end)
        return ids

    def _split_word(self, word: str) -> tuple[int, ...]:
        if len(word) > _MAX_WORD_LENGTH:
            return (self._unknown,)
        pieces = []
        begin = 0
        while begin < len(word):
            prefix = "##" if begin else ""
            for end in range(len(word), begin, -1):
                piece = self._ids.get(prefix + word[begin:end])
                if piece is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(piece)
            begin = end
        return tuple(pieces)


def split_words(text: str) -> list[str]:
    """The words, punctuation marks and ideographs of a text, in lower case and without accents."""
    if text.isascii():
        return _ASCII_WORDS.findall(text.translate(_ASCII_CONTROLS).lower())
    # a sigma at the end of a word stays the ordinary letter: case is lowered character by character
    return unicodedata.normalize("NFD", text).translate(_SPACING).replace("Σ", "σ").lower().split()


class _Spacing(dict[int, str]):
    """What stands in place of a character before a text is split at white space; filled as characters come."""

    def __missing__(self, code: int) -> str:
        spaced = _space(chr(code))
        if code <= 0xFFFF:
            self[code] = spaced
        return spaced


def _space(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":
        return " "
    if category == "Mn" or category[0] == "C" or character == "\ufffd":
        return ""
    code = ord(character)
    is_apart = category[0] == "P" or (code < 0x80 and not character.isalnum())
    if is_apart or any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {character} "
    return character


_SPACING = _Spacing()
