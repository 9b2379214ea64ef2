"""Queries as people type them, and the trees that become of them."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgcontext.text.analysis import split_words
from pgcontext.text.query import (
    NO_WORDS,
    ONLY_NEGATIVE,
    ONLY_STOP_WORDS,
    AllOf,
    AnyOf,
    Mode,
    NotOf,
    Phrase,
    Prefix,
    QueryNode,
    Word,
    leaves,
    parse_hybrid_query,
    parse_query,
    to_document,
)

pieces = st.sampled_from(
    [
        *"()\"'-*:&|!<>+#“”",
        "AND",
        "OR",
        "NOT",
        " ",
        " ",
        " ",
        "alpha",
        "beta",
        "the",
        "who",
        "C++",
        "main.py",
        "今天玩",
        "é",
    ]
)
typed = st.lists(pieces, max_size=40).map("".join) | st.text(max_size=60)


def boolean(query: str) -> QueryNode | None:
    return parse_query(query, "boolean", "english").tree


def is_well_formed(node: QueryNode, under_all: bool = False) -> bool:
    """As the classes promise: a `NotOf` only beside something positive, and no leaf without words."""
    if isinstance(node, NotOf):
        return under_all and is_well_formed(node.part)
    if isinstance(node, AllOf):
        positive = [part for part in node.parts if not isinstance(part, NotOf)]
        return bool(positive) and len(node.parts) > 1 and all(is_well_formed(part, True) for part in node.parts)
    if isinstance(node, AnyOf):
        return len(node.parts) > 1 and all(is_well_formed(part) for part in node.parts)
    return bool(split_words(node.text))


@given(typed, st.sampled_from(get_args(Mode)), st.sampled_from(["english", "german", "simple"]))
def test_nothing_that_is_typed_raises(query: str, mode: Mode, language: str) -> None:
    parsed = parse_query(query, mode, language)
    assert parsed.notes if parsed.tree is None else is_well_formed(parsed.tree)


@given(typed, st.integers(1, 6))
def test_nothing_that_is_typed_for_a_hybrid_search_raises(query: str, any_word_from: int) -> None:
    parsed = parse_hybrid_query(query, "english", any_word_from)
    assert parsed.notes if parsed.tree is None else is_well_formed(parsed.tree)


Known = frozenset[str]


def holds(node: QueryNode, words: Known) -> bool:
    """Whether a tree of words is fulfilled."""
    if isinstance(node, NotOf):
        return not holds(node.part, words)
    if isinstance(node, AllOf):
        return all(holds(part, words) for part in node.parts)
    if isinstance(node, AnyOf):
        return any(holds(part, words) for part in node.parts)
    return node.text in words


WORDS = ("alpha", "beta", "gamma", "delta")


def expressions() -> st.SearchStrategy[tuple[str, frozenset[Known]]]:
    """Boolean queries with the sets of words that fulfil them, by the rules of logic."""
    every = frozenset(
        frozenset(word for place, word in enumerate(WORDS) if number >> place & 1) for number in range(16)
    )
    words = st.sampled_from(WORDS).map(lambda word: (word, frozenset(known for known in every if word in known)))
    return st.recursive(
        words,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(
                lambda pair: (f"({pair[0][0]}) AND ({pair[1][0]})", pair[0][1] & pair[1][1])
            ),
            st.tuples(inner, inner).map(lambda pair: (f"({pair[0][0]}) ({pair[1][0]})", pair[0][1] & pair[1][1])),
            st.tuples(inner, inner).map(
                lambda pair: (f"({pair[0][0]}) OR ({pair[1][0]})", pair[0][1] | pair[1][1])
            ),
            inner.map(lambda one: (f"NOT ({one[0]})", every - one[1])),
            inner.map(lambda one: (f"-({one[0]})", every - one[1])),
        ),
        max_leaves=6,
    )


@given(expressions())
def test_a_boolean_query_means_what_logic_says(expression: tuple[str, frozenset[Known]]) -> None:
    query, fulfilling = expression
    tree = boolean(query)
    if frozenset() in fulfilling:
        # without any word fulfilled, so for no end of entries: what is negative finds nothing
        return
    for number in range(16):
        known = frozenset(word for place, word in enumerate(WORDS) if number >> place & 1)
        assert (tree is not None and holds(tree, known)) == (known in fulfilling), (query, tree, known)


@pytest.mark.parametrize(
    "query, expected",
    [
        ("alpha AND NOT delta", AllOf((Word("alpha"), NotOf(Word("delta"))))),
        ("alpha OR beta gamma", AnyOf((Word("alpha"), AllOf((Word("beta"), Word("gamma")))))),
        ("alpha and beta or gamma", AllOf((Word("alpha"), Word("beta"), Word("gamma")))),
        ('alpha "beta gamma"', AllOf((Word("alpha"), Phrase("beta gamma")))),
        ('-"beta gamma" alpha', AllOf((Word("alpha"), NotOf(Phrase("beta gamma"))))),
        ("--dry-run foo-bar", AllOf((Word("--dry-run"), Word("foo-bar")))),
        ("alpha OR NOT beta", Word("alpha")),
        ("foo OR", Word("foo")),
        ('"unterminated', Word("unterminated")),
        ("NEAR(alpha", AllOf((Word("NEAR"), Word("alpha")))),
        ("NOT NOT alpha", Word("alpha")),
    ],
)
def test_boolean_queries(query: str, expected: QueryNode) -> None:
    assert boolean(query) == expected


@pytest.mark.parametrize(
    "query, mode, note",
    [
        ("-band", "boolean", ONLY_NEGATIVE),
        ("'", "match", NO_WORDS),
        ("AND", "boolean", NO_WORDS),
        ("the who", "match", ONLY_STOP_WORDS),
        ("and", "match", ONLY_STOP_WORDS),
    ],
)
def test_what_cannot_be_taken_literally_is_explained(query: str, mode: Mode, note: str) -> None:
    assert parse_query(query, mode, "english").notes == (note,)


def test_stop_words_are_left_out_beside_others() -> None:
    assert parse_query("what's the flow of air", "match", "english").tree == AllOf((Word("flow"), Word("air")))
    assert parse_query("die Luft", "match", "german").tree == AllOf((Word("die"), Word("Luft")))


def test_in_a_prefix_search_every_word_is_a_beginning() -> None:
    assert parse_query("the auth", "prefix", "english").tree == AllOf((Prefix("the"), Prefix("auth")))


def test_a_short_hybrid_query_needs_every_word_and_a_long_one_any() -> None:
    short = parse_hybrid_query("how does air flow", "english", 4)
    assert (short.tree, short.mode) == (AllOf((Word("air"), Word("flow"))), "all_words")
    long = parse_hybrid_query("how does air flow over thin wings", "english", 4)
    words = tuple(map(Word, ("air", "flow", "thin", "wings")))
    assert (long.tree, long.mode) == (AnyOf(words), "any_word")


def test_a_phrase_stays_required_in_a_hybrid_query() -> None:
    tree = parse_hybrid_query('"error handling" retries timeouts backoff jitter', "english", 4).tree
    assert isinstance(tree, AllOf)
    assert tree.parts[0] == Phrase("error handling")


def test_a_sentence_without_spaces_is_taken_apart_in_a_hybrid_query() -> None:
    tree = parse_hybrid_query("如何维修设备", "english", 4).tree
    assert isinstance(tree, AnyOf)
    assert Word("设备") in tree.parts


def test_only_what_may_be_found_counts_as_a_leaf() -> None:
    tree = boolean("alpha (beta OR gamma) -delta")
    assert tree is not None
    assert leaves(tree) == [Word("alpha"), Word("beta"), Word("gamma")]


def test_a_tree_is_a_document() -> None:
    tree = boolean('alpha -"beta gamma"')
    assert tree is not None
    assert to_document(tree) == {"all": [{"word": "alpha"}, {"not": {"phrase": "beta gamma"}}]}
