"""What search knows of a text."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgcontext.text import analysis
from pgcontext.text.analysis import analyze_text, split_terms, split_words

SQL = Path(__file__).resolve().parents[2] / "sql" / "text" / "character_class.sql"


@pytest.mark.parametrize(
    "text, words, forms",
    [
        ("The cats were running", "the cat were run", "cats running"),
        ("getUserById", "get user by id", "getuserbyid"),
        ("open main.py", "open main py", "main.py"),
        ("POL-358 on 2026-03-14", "pol 358 on 2026 03 14", "pol-358 2026-03-14"),
        ("C++ and C#.", "c and c", "c++ c#"),
        ("don't", "don t", ""),
        ("Cafe\u0301 CAFÉ", "cafe cafe", ""),
        ("今天玩, 我", "今天 天玩 玩 我", ""),
        ("GPU加速", "gpu 加速 速", ""),
        ("done ✅👍🏽!", "done ✅ 👍", ""),
        ("soft\u00adware zero\u200bwidth", "softwar zero width", "software"),
        ("snake_case_name", "snake case name", "snake_case_name"),
        ("", "", ""),
    ],
)
def test_words_and_forms(text: str, words: str, forms: str) -> None:
    analyzed = analyze_text(text, "english")
    assert (" ".join(analyzed.words), " ".join(analyzed.forms)) == (words, forms)


@pytest.mark.parametrize(
    "language, word, stem",
    [
        ("english", "connected", "connect"),
        ("english", "adding", "add"),
        ("german", "Häuser", "haus"),
        ("german", "Lehrerinnen", "lehr"),
        ("russian", "большой", "больш"),
        ("romanian", "mulţi", "mult"),
        ("simple", "running", "running"),
    ],
)
def test_stems(language: str, word: str, stem: str) -> None:
    assert analyze_text(word, language).words == (stem,)


@pytest.mark.parametrize("language", analysis.LANGUAGES)
def test_every_language_has_a_stemmer(language: str) -> None:
    assert analyze_text("abc", language).words


@given(st.text(max_size=200))
def test_normal_forms_of_a_text_have_the_same_words(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert analyze_text(composed, "english") == analyze_text(decomposed, "english")


@given(st.text(max_size=200), st.sampled_from(["english", "simple", "german"]))
def test_lexemes_survive_the_way_into_the_index(text: str, language: str) -> None:
    """They are handed over apart by spaces, and hold nothing that a query could take for syntax."""
    analyzed = analyze_text(text, language)
    for lexeme in (*analyzed.words, *analyzed.forms):
        assert lexeme
        assert len(lexeme.encode()) <= 2046
        assert not re.search(r"[\s\"'\\()&|!<>*]", lexeme, re.ASCII), lexeme


@given(st.text(max_size=100))
def test_terms_have_words(text: str) -> None:
    assert all(split_words(term) for term in split_terms(text))


def test_a_word_of_any_length_is_one_word() -> None:
    for letter in ("a", "é", "语"[:0] or "я"):
        assert len(analyze_text(letter * 5000, "english").words) == 1


def test_what_is_counted_is_different_words() -> None:
    assert analyze_text("flow flows flowing air", "english").word_count == 2


def test_a_lexeme_keeps_256_places_as_a_tsvector_does() -> None:
    words = analyze_text("a " * 300 + "b", "simple").words
    assert (words.count("a"), len(words), words[-1]) == (256, 301, "b")


def test_character_classes_are_those_of_the_sql_function() -> None:
    text = SQL.read_text(encoding="utf-8")
    classes = dict(re.findall(r"when '(\w+)'\s+then\s+((?:'[^']*'[\s|]*)+)", text))
    assert {name: "".join(re.findall(r"'([^']*)'", value)) for name, value in classes.items()} == {
        "separators": analysis.SEPARATORS,
        "unspaced": analysis.UNSPACED,
        "pictures": analysis.PICTURES,
        "marks": analysis.MARKS,
        "invisible": analysis.INVISIBLE,
        "joiners": analysis.JOINERS,
    }
