"""Marks around what a query found."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgcontext.text.highlight import highlight
from pgcontext.text.query import Mode, parse_query

LENGTH = 300


def marked(text: str, query: str, mode: Mode = "match", length: int = LENGTH) -> str:
    tree = parse_query(query, mode, "english").tree
    assert tree is not None
    return highlight(text, tree, "english", length)


@pytest.mark.parametrize(
    "text, query, mode, expected",
    [
        ("Flows of air", "flow", "match", "<mark>Flows</mark> of air"),
        ("<b>air</b> & more", "air", "match", "<b><mark>air</mark></b> & more"),
        ("error handling, error", "error handling", "phrase", "<mark>error handling</mark>, error"),
        ("authentic author", "authen", "prefix", "<mark>authentic</mark> author"),
        ("main.pyc main", "main.p", "prefix", "<mark>main.pyc</mark> main"),
        ("call getUserById", "user", "match", "call get<mark>User</mark>ById"),
        ("call getUserById", "getuserbyid", "match", "call <mark>getUserById</mark>"),
        ("今天玩成语接龙游戏", "成语接龙", "match", "今天玩<mark>成语接龙</mark>游戏"),
        ("维修设备", "备", "match", "维修设<mark>备</mark>"),
        ("Cafe\u0301 STRASSE", "café straße", "match", "<mark>Cafe\u0301</mark> <mark>STRASSE</mark>"),
        ("alpha beta delta", "alpha -delta", "boolean", "<mark>alpha</mark> beta delta"),
        ("nothing here", "other", "match", "nothing here"),
    ],
)
def test_matches_are_marked(text: str, query: str, mode: Mode, expected: str) -> None:
    assert marked(text, query, mode) == expected


def test_a_long_passage_is_cut_around_most_of_the_matches() -> None:
    shown = marked("flow " + "x " * 500 + "air flow air flow " + "y " * 500, "air flow", length=60)
    assert shown.count("<mark>") == 4
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown.replace("<mark>", "").replace("</mark>", "")) <= 62


words = st.sampled_from(
    ["flow", "Flows", "air", "main.py", "getUserById", "今天玩", "é", "<b>", "👍🏽", "e\u0301", "ﬁn", "\u0301"]
)
passages = st.lists(words | st.text(max_size=5), max_size=40).map(" ".join)


@given(passages, words, st.sampled_from(get_args(Mode)), st.integers(50, 1000))
def test_nothing_but_marks_is_added_to_the_text(text: str, query: str, mode: Mode, length: int) -> None:
    tree = parse_query(query, mode, "english").tree
    if tree is None:
        return
    shown = highlight(text, tree, "english", length)
    plain = shown.replace("<mark>", "").replace("</mark>", "")
    assert shown.count("<mark>") == shown.count("</mark>")
    if len(text) <= length:
        assert plain == text
    else:
        assert plain.strip("…") in text
