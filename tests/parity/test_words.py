"""Both backends see the same words in a text and find the same entries by them, in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgcontext.principal import Principal
from pgcontext.storage.postgres.installer import provision
from pgcontext.storage.postgres.store import PostgresStore
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.store import Store
from pgcontext.storage.values import EntryFilter, NewEntry
from pgcontext.text.analysis import analyze_text
from pgcontext.text.query import Mode, QueryNode, parse_hybrid_query, parse_query
from support.options import options_for, settings_for
from support.postgres import LOGIN, OWNER, PostgresServer

ALICE = Principal("alice")
LANGUAGE = "english"
_relaxed = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

ODD = [
    "getUserById", "main.py", "POL-358", "C++", "c#", "2026-03-14", "http://x.y/z?q=1", "don't", "foo_bar",
    "__init__",
    "İstanbul", "ISPARTA", "ısparta", "Straße", "STRASSE", "ﬁne", "Ｆｕｌｌ", "café", "cafe\u0301", "Łódź", "ÆØÅ",
    "ΣΊΣΥΦΟΣ", "今天玩成语接龙游戏", "我", "설정이", "สวัสดีครับ", "ភាសាខ្មែរ", "العَرَبِيَّة", "שָׁלוֹם", "हिन्दी", "𠀋𠂢a",
    "😀", "👍🏽", "👨\u200d👩\u200d👧", "soft\u00adhyphen", "1⃣", "\u0301x", "²", "½", "Å", "ŉ", "x" * 300,
    "adding",
]  # fmt: skip
words = st.sampled_from(
    [*ODD, "flow", "flows", "flowing", "air", "Air", "rotor", "the", "of", "a", "b", "ab", "main", "py", "user"]
)
spaces = st.sampled_from([" ", " ", " ", "\n", "", ", ", ". ", "-", "/"])
texts = st.lists(st.tuples(words, spaces).map("".join), min_size=1, max_size=30).map("".join) | st.text(
    max_size=80
)


@pytest.fixture(scope="module")
def connection(postgres: PostgresServer, database: Any) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.database(database()), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        yield connection


def as_postgres_sees(connection: psycopg.Connection[Any], text: str) -> tuple[dict[int, str], set[str], int]:
    """The words by their places, the forms, and how many different words there are."""
    rows = connection.execute(
        "select lexeme, positions, word_count from analyze_text(%s) as analysis "
        "left join lateral unnest(analysis.words) as lexeme (lexeme, positions, weights) on true",
        (text,),
    ).fetchall()
    places = {place: lexeme for lexeme, positions, _ in rows for place in positions or ()}
    forms = {lexeme for lexeme, positions, _ in rows if lexeme is not None and positions is None}
    return places, forms, rows[0][2]


@pytest.mark.parametrize(
    "language", ["english", "simple", "german", "french", "russian", "turkish", "arabic", "greek"]
)
@_relaxed
@given(text=texts.filter(lambda text: "\0" not in text))
def test_both_see_the_same_words(connection: psycopg.Connection[Any], language: str, text: str) -> None:
    connection.execute(
        "insert into setting (name, value) values ('fts_language', %s) "
        "on conflict (name) do update set value = excluded.value",
        (language,),
    )
    analyzed = analyze_text(text, language)
    places = {place: word for place, word in enumerate(analyzed.words, 1) if word != "."}
    expected = (places, set(analyzed.forms), analyzed.word_count)
    assert as_postgres_sees(connection, text) == expected


@pytest.fixture(scope="module")
async def stores(postgres: PostgresServer, tmp_path_factory: Any) -> Any:
    """One store of each backend, with the same texts in the same order: short ones, long ones and hidden ones."""
    settings = settings_for()
    name = postgres.create_database()
    options = options_for(postgres.database(name, OWNER), True, settings)
    provision(options)
    both: list[Store] = [
        PostgresStore(replace(options, conninfo=postgres.database(name, LOGIN))),
        SqliteStore(tmp_path_factory.mktemp("words") / "words.db", settings.access_policy()),
    ]
    for store in both:
        await store.open()
    yield both
    for store in both:
        await store.close()
    postgres.drop_database(name)


numbers: list[dict[str, int]] = [{}, {}]
"""For each store, the number of every text by its entry's id."""


async def store_everywhere(stores: list[Store], text: str, owner: Principal) -> None:
    entry = NewEntry("t", "agent", text, deduplicate=False)
    for place, store in enumerate(stores):
        (outcome,) = await store.store_entries(owner, [entry], True)
        numbers[place][str(outcome.entry_id)] = len(numbers[place])


async def search_everywhere(stores: list[Store], tree: QueryNode) -> list[list[tuple[int, int, float | None]]]:
    answers = []
    for place, store in enumerate(stores):
        found = await store.rank_words(ALICE, tree, EntryFilter(), 1000)
        answers.append([(numbers[place][match.entry_id], match.chunk_index, match.fts_score) for match in found])
    return answers


storable = texts.map(str.strip).filter(lambda text: bool(text) and "\0" not in text)
long = st.tuples(storable, st.integers(150, 700), storable, storable).map(
    lambda parts: f"{parts[0]} {'filler word ' * parts[1]} {parts[2]} {'filler word ' * parts[1]} {parts[3]}"
)
operators = st.sampled_from([" ", " AND ", " OR ", " NOT ", " -", ' "', '" ', " (", ") "])
queries = (
    st.lists(st.tuples(words, operators).map("".join), min_size=1, max_size=5).map("".join) | st.text(max_size=20)
).filter(lambda query: "\0" not in query)


@_relaxed
@given(
    new=st.lists(st.tuples(storable | long, st.booleans()), max_size=3),
    asked=st.lists(st.tuples(queries, st.sampled_from([*get_args(Mode), "hybrid"])), min_size=1, max_size=6),
)
async def test_both_find_the_same_in_the_same_order(
    stores: list[Store], new: list[tuple[str, bool]], asked: list[tuple[str, Any]]
) -> None:
    for text, is_hidden in new:
        await store_everywhere(stores, text, Principal("bob") if is_hidden else ALICE)
    for query, mode in asked:
        parsed = parse_hybrid_query(query, LANGUAGE, 3) if mode == "hybrid" else parse_query(query, mode, LANGUAGE)
        if parsed.tree is not None:
            left, right = await search_everywhere(stores, parsed.tree)
            assert left == right, parsed.tree


async def test_both_rank_the_same_of_more_than_can_be_ranked(stores: list[Store]) -> None:
    """More than a thousand match: the newest, and those with the rarer words."""
    common = [
        NewEntry("many", "agent", f"commonword {'x' * (number % 7)}", deduplicate=False) for number in range(1300)
    ]
    common[3:3] = [NewEntry("many", "agent", "commonword rareword early", deduplicate=False)]
    early = [len(known) + 3 for known in numbers]
    for place, store in enumerate(stores):
        for begin in range(0, len(common), 200):
            for outcome in await store.store_entries(ALICE, common[begin : begin + 200], True):
                numbers[place][str(outcome.entry_id)] = len(numbers[place])
    for query in ("commonword", "commonword OR rareword", "commonword OR early OR xxx"):
        tree = parse_query(query, "boolean", LANGUAGE).tree
        assert tree is not None
        left, right = await search_everywhere(stores, tree)
        assert left == right
        assert len(left) >= 1000
    tree = parse_query("commonword OR rareword", "boolean", LANGUAGE).tree
    assert tree is not None
    for place, answer in enumerate(await search_everywhere(stores, tree)):
        assert answer[0][0] == early[place]
