"""Texts cut into chunks."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgcontext.text.chunks import Span, split_text

SIZE, OVERLAP = 60, 12

texts = st.lists(
    st.sampled_from(
        [
            "word",
            "a",
            "Sentence. ",
            " ",
            "\n",
            "\n\n",
            "\r\n",
            "e\u0301",
            "東京。",
            "👩\u200d👩\u200d👧",
            "🇫🇷",
            "x" * 70,
        ]
    ),
    max_size=120,
).map("".join)
sizes = st.integers(1, 50).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size // 2)))


def slices(text: str, size: int = SIZE, overlap: int = OVERLAP) -> list[str]:
    return [text[span.begin : span.end] for span in split_text(text, size, overlap)]


@given(texts | st.text(), sizes)
def test_chunks_cover_the_text_in_order_within_size_and_overlap(text: str, measures: tuple[int, int]) -> None:
    size, overlap = measures
    spans = split_text(text, size, overlap)
    assert spans[0].begin == 0
    assert spans[-1].end == len(text)
    assert all(span.end - span.begin <= size for span in spans)
    for before, after in pairwise(spans):
        assert before.begin < after.begin <= before.end < after.end
        assert before.end - after.begin <= overlap


@given(texts)
def test_what_chunks_share_joins_them_to_the_text(text: str) -> None:
    spans = split_text(text, SIZE, OVERLAP)
    joined = "".join(
        text[span.begin : following.begin] for span, following in pairwise([*spans, Span(len(text), len(text))])
    )
    assert joined == text


@given(texts)
def test_no_chunk_begins_with_a_mark_or_a_joiner(text: str) -> None:
    for chunk in slices(text)[1:]:
        assert unicodedata.category(chunk[0]) not in ("Mn", "Mc", "Me")
        assert chunk[0] != "\u200d"


@given(st.lists(st.text("abc", min_size=1, max_size=OVERLAP - 2), min_size=30).map(" ".join))
def test_words_stay_whole(text: str) -> None:
    assert all(set(chunk.split()) <= set(text.split()) for chunk in slices(text))


def test_a_text_within_the_size_is_one_chunk() -> None:
    assert split_text("", SIZE, OVERLAP) == [Span(0, 0)]
    assert split_text("x" * SIZE, SIZE, OVERLAP) == [Span(0, SIZE)]


def test_a_paragraph_begins_a_chunk_before_a_line_a_sentence_or_a_word_does() -> None:
    tail = " and then some more of the same" * 2
    paragraph = "First one here, which goes on for a bit.\n\nSecond one.\nA line. More words" + tail
    assert slices(paragraph)[0] == "First one here, which goes on for a bit.\n\n"
    line = "First one here, which goes on for a bit\nA line. More words" + tail
    assert slices(line)[0] == "First one here, which goes on for a bit\n"
    sentence = "First one here, which goes on for a bit. More words" + tail
    assert slices(sentence)[0] == "First one here, which goes on for a bit. "


def test_the_last_two_chunks_share_what_remains() -> None:
    first, second = slices("four " * 13)
    assert len(first) - len(second) < SIZE // 3


@pytest.mark.parametrize("character", ["a", " ", "\n", ".", "東", "e\u0301", "\u0301", ". ", "'", "\n "])
def test_a_huge_text_of_one_line_takes_time_in_proportion(character: str) -> None:
    """Each window is looked at once; a pattern that ran on would not come to an end here."""
    text = character * (1_000_000 // len(character))
    spans = split_text(text, 1500, 150)
    assert spans[-1].end == len(text)
    assert len(spans) < 2 * len(text) / (1500 - 150)


@pytest.mark.parametrize("size, overlap", [(0, 0), (10, 6), (10, -1)])
def test_sizes_that_could_not_advance_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="at most half"):
        split_text("text", size, overlap)
