"""What somebody typed, as a tree of words, phrases and prefixes; parsed once, for both backends.

Nothing that a person types raises, and nothing of it reaches an engine but the words: both backends analyse the
leaves as they analyse texts (see `analysis`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pgcontext.text.analysis import is_unspaced, split_scripts, split_terms, split_words
from pgcontext.text.stopwords import CONTRACTED, STOP_WORDS

Mode = Literal["match", "prefix", "phrase", "boolean"]
AdaptiveMode = Literal["all_words", "any_word"]

NO_WORDS = "The query holds no words to search for"
ONLY_STOP_WORDS = "Every word of the query is a common one; entries with all of them were searched for"
ONLY_NEGATIVE = "The query says only what not to find, which finds nothing"

_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Word:
    """A word or an identifier as it was typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words next to each other and in order."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """Words that begin so."""

    text: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part; at least one of them is not a `NotOf`."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part; none of them is a `NotOf`."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class NotOf:
    """What must not match; only as a part of `AllOf`."""

    part: QueryNode


Leaf = Word | Phrase | Prefix
QueryNode = Leaf | AllOf | AnyOf | NotOf


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`tree` is None where nothing can be found; `notes` say what the caller should know of the query.

    `mode` says for a hybrid search whether every word is needed.
    """

    tree: QueryNode | None
    notes: tuple[str, ...] = ()
    mode: AdaptiveMode = "all_words"


def parse_query(query: str, mode: Mode, language: str) -> ParsedQuery:
    """The tree of a full-text query in one of the four modes."""
    if mode == "phrase":
        return _parsed(_leaf(Phrase, query))
    if mode == "boolean":
        return _parse_boolean(query, language)
    if mode == "prefix":
        return _parsed(_joined(AllOf, [Prefix(term) for term in split_terms(query)]))
    words, notes = _significant([Word(term) for term in split_terms(query)], language)
    return _parsed(_joined(AllOf, words), notes)


def parse_hybrid_query(query: str, language: str, any_word_from: int) -> ParsedQuery:
    """The tree of the words of a hybrid search: phrases in quotes are required, and so are the other words.

    From `any_word_from` significant words on, any of them suffices, and beside a phrase they only rank.
    """
    phrases, rest = _take_phrases(query)
    words, notes = _significant([Word(term) for term in split_terms(rest)], language)
    if phrases and notes:
        words, notes = [], ()
    pairs = [pair for word in words for pair in _pairs(word)]
    if len(pairs) < any_word_from:
        return _parsed(_joined(AllOf, [*phrases, *words]), notes)
    optional = _joined(AnyOf, [*phrases, *pairs])
    tree = _joined(AllOf, [*phrases, *([optional] if optional is not None else [])])
    return ParsedQuery(tree, notes, "any_word") if tree is not None else _parsed(None)


def leaves(node: QueryNode) -> list[Leaf]:
    """What may be found by: the leaves that no `NotOf` stands above, each once."""
    if isinstance(node, NotOf):
        return []
    if isinstance(node, AllOf | AnyOf):
        return list(dict.fromkeys(leaf for part in node.parts for leaf in leaves(part)))
    return [node]


def to_document(node: QueryNode) -> dict[str, Any]:
    """The tree as the stored functions take it: {"all": […]}, {"any": […]}, {"not": …}, {"word": "…"}, …"""
    if isinstance(node, AllOf):
        return {"all": [to_document(part) for part in node.parts]}
    if isinstance(node, AnyOf):
        return {"any": [to_document(part) for part in node.parts]}
    if isinstance(node, NotOf):
        return {"not": to_document(node.part)}
    return {type(node).__name__.lower(): node.text}


def _parsed(tree: QueryNode | None, notes: tuple[str, ...] = ()) -> ParsedQuery:
    if tree is None:
        return ParsedQuery(None, (NO_WORDS,))
    return ParsedQuery(tree, notes)


def _leaf(kind: Callable[[str], Leaf], text: str) -> Leaf | None:
    return kind(text.strip()) if split_words(text) else None


def _joined(kind: Callable[[tuple[QueryNode, ...]], QueryNode], parts: Iterable[QueryNode]) -> QueryNode | None:
    """The parts together, each once; a single one stands for itself, and none for nothing."""
    once = tuple(dict.fromkeys(parts))
    if not once:
        return None
    return once[0] if len(once) == 1 else kind(once)


def _significant(words: Sequence[Word], language: str) -> tuple[list[Word], tuple[str, ...]]:
    """The words without stop words; all of them, with a note, where nothing else is left."""
    significant = [word for word in dict.fromkeys(words) if not is_stop_word(word.text, language)]
    if significant or not words:
        return significant, ()
    return list(words), (ONLY_STOP_WORDS,)


def is_stop_word(term: str, language: str) -> bool:
    """Whether a term says nothing of what is looked for: `the`, `who`, `what's`. For English only."""
    if language != "english":
        return False
    words = split_words(term)
    return words[0] in STOP_WORDS and all(word in STOP_WORDS or word in CONTRACTED for word in words[1:])


def _pairs(word: Word) -> list[Word]:
    """A run of a script without spaces may be a whole sentence: its pairs, any of which may count."""
    return [
        Word(run[place : place + 2]) if is_unspaced(run) else Word(run)
        for run in split_scripts(word.text)
        for place in range(max(len(run) - 1, 1) if is_unspaced(run) else 1)
    ]


_quoted = re.compile('["“”„]([^"“”„]*)["“”„]')


def _take_phrases(query: str) -> tuple[list[Leaf], str]:
    """The phrases in quotes, and the query without them; a quote without its other one is ignored."""
    found = [_leaf(Phrase, text) for text in _quoted.findall(query)]
    return [phrase for phrase in found if phrase is not None], _quoted.sub(" ", query)


# boolean queries

_token = re.compile(
    '(?P<open>[(])|(?P<close>[)])|["“”„](?P<phrase>[^"“”„]*)["“”„]|(?P<minus>(?<![^\\s(])-(?=[^\\s-]))'
    '|(?P<text>[^\\s()"“”„]+)|.',
    re.DOTALL,
)


def _parse_boolean(query: str, language: str) -> ParsedQuery:
    tree = _Parser(query).parse()
    if tree is None:
        return ParsedQuery(None, (NO_WORDS,))
    kept = _without_stop_words(tree, language)
    notes = () if kept is not None else (ONLY_STOP_WORDS,)
    normal = _normal(kept or tree)
    if isinstance(normal, NotOf):
        # beside `alpha OR NOT beta` there would be no end of matches
        positive = _without_negations(kept or tree)
        normal = _normal(positive) if positive is not None else normal
    if isinstance(normal, NotOf):
        return ParsedQuery(None, (ONLY_NEGATIVE,))
    return ParsedQuery(normal, notes)


class _Parser:
    """Recursive descent: alternatives of conjunctions of factors. Whatever does not fit is passed over."""

    def __init__(self, query: str) -> None:
        self._tokens = [token for token in _token.finditer(query) if token.lastgroup]
        self._place = 0
        self._depth = 0

    def parse(self) -> QueryNode | None:
        alternatives = []
        while self._place < len(self._tokens):
            alternatives.append(self._alternatives())
            # a closing parenthesis that none has opened
            self._place += 1
        return _joined(AllOf, [each for each in alternatives if each is not None])

    def _alternatives(self) -> QueryNode | None:
        parts: list[QueryNode] = []
        while True:
            part = self._conjunction()
            if part is not None:
                parts.append(part)
            if not self._take("OR"):
                return _joined(AnyOf, parts)

    def _conjunction(self) -> QueryNode | None:
        parts: list[QueryNode] = []
        while self._place < len(self._tokens):
            kind, text = self._peek()
            if kind == "close" or (kind == "text" and text == "OR"):
                break
            if kind == "text" and text == "AND":
                self._place += 1
                continue
            part = self._factor()
            if part is not None:
                parts.append(part)
        return _joined(AllOf, parts)

    def _factor(self) -> QueryNode | None:
        negative = False
        while self._take("NOT") or self._take("-", "minus"):
            negative = not negative
        part = self._operand()
        return NotOf(part) if negative and part is not None else part

    def _operand(self) -> QueryNode | None:
        if self._place >= len(self._tokens):
            return None
        kind, text = self._peek()
        if kind == "close" or (kind == "text" and text in ("AND", "OR")):
            return None
        self._place += 1
        if kind == "phrase":
            return _leaf(Phrase, text)
        if kind == "text":
            return _joined(AllOf, [Word(term) for term in split_terms(text)])
        if self._depth >= _DEEPEST:
            return None
        self._depth += 1
        group = self._alternatives()
        self._depth -= 1
        self._take(")", "close")
        return group

    def _peek(self) -> tuple[str, str]:
        token = self._tokens[self._place]
        kind = token.lastgroup or ""
        return kind, token[kind]

    def _take(self, text: str, kind: str = "text") -> bool:
        taken = self._place < len(self._tokens) and self._peek() == (kind, text)
        self._place += taken
        return taken


def _map_parts(node: QueryNode, change: Callable[[QueryNode], QueryNode | None]) -> QueryNode | None:
    """A conjunction or an alternative with its parts changed, without those that became None."""
    assert isinstance(node, AllOf | AnyOf)
    changed = [change(part) for part in node.parts]
    return _joined(type(node), [part for part in changed if part is not None])


def _without_stop_words(node: QueryNode, language: str) -> QueryNode | None:
    if isinstance(node, AllOf | AnyOf):
        return _map_parts(node, lambda part: _without_stop_words(part, language))
    # what somebody takes the trouble to exclude is meant
    if isinstance(node, NotOf | Prefix) or not is_stop_word(node.text, language):
        return node
    return node if isinstance(node, Phrase) and len(split_words(node.text)) > 1 else None


def _without_negations(node: QueryNode) -> QueryNode | None:
    if isinstance(node, AllOf | AnyOf):
        return _map_parts(node, _without_negations)
    return None if isinstance(node, NotOf) else node


def _normal(node: QueryNode) -> QueryNode:
    """The same condition as a tree in the form that the classes above promise, or as a `NotOf` such a tree."""
    if isinstance(node, NotOf):
        inner = _normal(node.part)
        return inner.part if isinstance(inner, NotOf) else NotOf(inner)
    if not isinstance(node, AllOf | AnyOf):
        return node
    parts = [_normal(part) for part in node.parts]
    positive = [part for part in parts if not isinstance(part, NotOf)]
    negative = [part.part for part in parts if isinstance(part, NotOf)]
    if isinstance(node, AnyOf):
        if not negative:
            return _together(AnyOf, positive)
        # a or not b: not (b and not a)
        excluded = [NotOf(_together(AnyOf, positive))] if positive else []
        return NotOf(_together(AllOf, [*negative, *excluded]))
    if not positive:
        return NotOf(_together(AnyOf, negative))
    return _together(AllOf, [*positive, *map(NotOf, negative)])


def _together(kind: type[AllOf] | type[AnyOf], parts: Sequence[QueryNode]) -> QueryNode:
    flat: list[QueryNode] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else [part])
    joined = _joined(kind, flat)
    assert joined is not None
    return joined
