"""Queries by words, compiled to FTS5. Twin of `leaf_words`, `compile_leaf` and `query_units` in `sql/text/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgcontext.text.analysis import analyze_term, is_unspaced
from pgcontext.text.query import AllOf, AnyOf, Leaf, NotOf, Prefix, QueryNode, leaves

_MOST_UNITS = 500


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """A lexeme that counts for the score, or all that begin so."""

    lexeme: str
    is_prefix: bool = False

    def __str__(self) -> str:
        return f'"{self.lexeme}"' + (" *" if self.is_prefix else "")


def compile_match(node: QueryNode, language: str) -> str:
    """The whole query as an expression of FTS5."""
    if isinstance(node, AnyOf):
        return " OR ".join(f"({compile_match(part, language)})" for part in node.parts)
    if isinstance(node, AllOf):
        positive = [part for part in node.parts if not isinstance(part, NotOf)]
        negative = [part.part for part in node.parts if isinstance(part, NotOf)]
        wanted = " AND ".join(f"({compile_match(part, language)})" for part in positive)
        if not negative:
            return wanted
        unwanted = " OR ".join(f"({compile_match(part, language)})" for part in negative)
        return f"({wanted}) NOT ({unwanted})"
    if isinstance(node, NotOf):
        raise ValueError("A query cannot only say what not to find")
    return compile_leaf(node, language)[0]


def compile_condition(node: QueryNode, test: Callable[[Leaf], str]) -> str:
    """The whole query as a predicate of SQL, its leaves by `test`."""
    if isinstance(node, NotOf):
        return f"not ({compile_condition(node.part, test)})"
    if isinstance(node, AllOf | AnyOf):
        operator = " and " if isinstance(node, AllOf) else " or "
        return "(" + operator.join(compile_condition(part, test) for part in node.parts) + ")"
    return test(node)


def is_spread(node: QueryNode) -> bool:
    """Whether several chunks of an entry may meet the query together."""
    return isinstance(node, AllOf) or (isinstance(node, AnyOf) and any(map(is_spread, node.parts)))


def query_units(node: QueryNode, language: str) -> list[Unit]:
    """What counts for the score, each once; nothing of what must not match."""
    units = dict.fromkeys(unit for leaf in leaves(node) for unit in compile_leaf(leaf, language)[1])
    return list(units)[:_MOST_UNITS]


def match_any(units: list[Unit]) -> str:
    """What matches at least one of them."""
    return " OR ".join(map(str, units))


def compile_leaf(leaf: Leaf, language: str) -> tuple[str, list[Unit]]:
    """A leaf as an expression of FTS5, and the lexemes of it that count for the score.

    A word of several is a phrase of them; an identifier counts besides.
    """
    term = analyze_term(leaf.text, language)
    words = term.words
    # a single character of a script without spaces is the beginning of pairs
    is_open = len(words[-1]) == 1 and is_unspaced(words[-1])
    units = sorted({Unit(word, is_open and place == len(words)) for place, word in enumerate(words, 1)})
    if not isinstance(leaf, Prefix):
        return _phrase(words, is_open), [*units, *map(Unit, term.identifiers)]
    if len(term.identifiers) == 1:
        units = [Unit(term.identifiers[0], True)]
    elif not is_unspaced(words[-1][0]):
        units = sorted({*map(Unit, words[:-1]), Unit(term.plain[-1], True)})
    else:
        return _phrase(words, is_open), units
    return " AND ".join(map(str, units)), units


def _phrase(words: tuple[str, ...], is_open: bool) -> str:
    phrase = '"' + " ".join(words) + '"' + (" *" if is_open else "")
    return phrase if len(words) == 1 else f"words : {phrase}"
