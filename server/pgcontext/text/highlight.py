"""Marking what a query found in a passage, for people to see."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pgcontext.text.analysis import analyze_term, is_unspaced, split_words
from pgcontext.text.locating import LocatedWord, locate_words
from pgcontext.text.query import Leaf, Prefix, QueryNode, leaves

_BEGIN, _END = "<mark>", "</mark>"
_CUT = "…"
_white_space = re.compile(r"\s")


Spans = list[tuple[int, int]]


def highlight(passage: str, query: QueryNode, language: str, length: int) -> str:
    """About `length` characters of a passage, where most of it matches, the matches between <mark> and </mark>.

    The text is as it stands, markup included; an ellipsis stands where it is cut. Words match by their stems,
    phrases and identifiers as a whole, prefixes by words that begin so.
    """
    places = locate_words(passage, language)
    spans = _merged([span for leaf in leaves(query) for span in _matches(leaf, places, language)])
    begin, end = _window(passage, spans, length)
    return (
        (_CUT if begin > 0 else "")
        + _marked(passage[:end], begin, [span for span in spans if begin <= span[0] and span[1] <= end])
        + (_CUT if end < len(passage) else "")
    )


def _matches(leaf: Leaf, places: Sequence[LocatedWord], language: str) -> Spans:
    if isinstance(leaf, Prefix):
        plain = split_words(leaf.text)
        if plain and not is_unspaced(plain[-1]):
            return [
                (run[0].begin, run[-1].end)
                for run in _runs(places, len(plain))
                if [place.plain for place in run[:-1]] == plain[:-1] and run[-1].plain.startswith(plain[-1])
            ]
    words = analyze_term(leaf.text, language).words
    last = words[-1] if words else ""
    is_open = len(last) == 1 and is_unspaced(last)
    found = [
        (run[0].begin, run[-1].begin + 1 if is_open else run[-1].end)
        for run in _runs(places, len(words))
        if tuple(place.stem for place in run[:-1]) == words[:-1]
        and (run[-1].stem.startswith(last) if is_open else run[-1].stem == last)
    ]
    return found + _identifiers(leaf, places, language)


def _runs(places: Sequence[LocatedWord], count: int) -> list[Sequence[LocatedWord]]:
    """As many words at a time as given, next to each other."""
    return [places[first : first + count] for first in range(len(places) - count + 1)] if count else []


def _identifiers(leaf: Leaf, places: Sequence[LocatedWord], language: str) -> Spans:
    """Words without gaps that together are what was asked for, as `getUserById` is `getuserbyid`."""
    term = analyze_term(leaf.text, language)
    names = {*term.identifiers, *(term.plain if len(term.plain) == 1 else ())}
    longest = max(map(len, names), default=0)
    found = []
    for first, place in enumerate(places):
        name, end = "", place.begin
        for part in places[first:]:
            if part.begin != end or len(name) > longest:
                break
            name, end = name + part.plain, part.end
            if name in names:
                found.append((place.begin, end))
    return found


def _merged(spans: Spans) -> Spans:
    """The spans in order, those that overlap as one."""
    merged: Spans = []
    for begin, end in sorted(spans):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _window(passage: str, spans: Spans, length: int) -> tuple[int, int]:
    """The part of the passage with most of what is marked, the first of equals, cut at white space."""
    if len(passage) <= length:
        return 0, len(passage)
    best = (0, 0, min(length, len(passage)))
    last = 0
    for first, (begin, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= begin + length:
            last += 1
        within = spans[first:last]
        covered = sum(end - start for start, end in within)
        if covered > best[0]:
            spare = length - (within[-1][1] - begin)
            start = max(min(begin - spare // 2, len(passage) - length), 0)
            best = (covered, start, start + length)
    _, begin, end = best
    return _at_white_space(passage, begin, end, spans)


def _at_white_space(passage: str, begin: int, end: int, spans: Spans) -> tuple[int, int]:
    """The window without the words that its ends cut through, as far as nothing marked is lost."""
    marked = [span for span in spans if begin <= span[0] and span[1] <= end]
    first = marked[0][0] if marked else end
    last = marked[-1][1] if marked else begin
    if begin > 0 and (found := _white_space.search(passage, begin - 1, min(first, begin + 40))):
        begin = found.end()
    if end < len(passage):
        tail = list(_white_space.finditer(passage, max(last, end - 40), end + 1))
        end = tail[-1].start() if tail else end
    return begin, max(begin, end)


def _marked(passage: str, begin: int, spans: Spans) -> str:
    parts = []
    for start, end in spans:
        parts += [passage[begin:start], _BEGIN, passage[start:end], _END]
        begin = end
    return "".join([*parts, passage[begin:]])
