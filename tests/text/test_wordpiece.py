"""Tokenisation for the built-in model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgcontext.text.wordpiece import WordPiece, split_words

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECES = [*SPECIAL, "un", "##want", "##ed", "runn", "##ing", "want", ",", "low", "##er", "##s"]
TOKENIZER = WordPiece(PIECES)


def pieces(text: str, max_tokens: int = 100) -> list[str]:
    return [PIECES[index] for index in TOKENIZER.encode(text, max_tokens)[1:-1]]


def test_words_are_covered_by_the_longest_pieces() -> None:
    assert pieces("unwanted running") == ["un", "##want", "##ed", "runn", "##ing"]
    assert pieces("Lowers, WANTED") == ["low", "##er", "##s", ",", "want", "##ed"]


def test_a_word_that_pieces_cannot_cover_is_unknown_as_a_whole() -> None:
    assert pieces("wantx unwanted") == ["[UNK]", "un", "##want", "##ed"]
    assert pieces("un" + "ing" * 40) == ["[UNK]"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("don't stop", ["don", "'", "t", "stop"]),
        ("a_b\x00c\td", ["a", "_", "bc", "d"]),
        ("Ünïcode CAFÉ", ["unicode", "cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("東京 tower", ["東", "京", "tower"]),
        ("“quoted”—dash", ["“", "quoted", "”", "—", "dash"]),
        ("zero\u200bwidth\u2028line\ufffd", ["zerowidth", "line"]),
        ("ΣΑΣ", ["σασ"]),
        ("1½ €5", ["1½", "€5"]),
        ("$5+7", ["$", "5", "+", "7"]),
        ("", []),
    ],
)
def test_text_is_normalised_and_split_like_the_reference(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text(st.characters(codec="ascii")))
def test_ascii_takes_a_shorter_way_to_the_same_words(text: str) -> None:
    assert split_words(text + " é") == [*split_words(text), "e"]


@given(st.text(), st.integers(2, 20))
def test_a_limit_cuts_the_tokens_and_keeps_both_ends(text: str, max_tokens: int) -> None:
    whole = TOKENIZER.encode(text, 10_000)
    cut = TOKENIZER.encode(text, max_tokens)
    assert cut == [*whole[:-1][: max_tokens - 1], whole[-1]]
