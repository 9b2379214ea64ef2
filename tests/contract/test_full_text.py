"""fts_search_context: which entries words find, in which order, and what the results show of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contract.helpers import ServeWith
from pgcontext.storage.store import Store
from support.options import settings_for
from support.world import Person, World, serving


async def found(person: Person, query: str, **arguments: Any) -> list[str]:
    """The ids that fts_search_context finds, best first."""
    result = await person.fts_search_context(query=query, **({"limit": 100} | arguments))
    return [entry["id"] for entry in result["results"]]


async def stored(person: Person, *texts: str, **arguments: Any) -> list[str]:
    """The ids of these texts, stored in this order."""
    return [await person.store(text, **arguments) for text in texts]


async def test_match_finds_entries_with_every_word_whatever_its_ending(world: World) -> None:
    alice = world.as_("alice")
    both, _ = await stored(alice, "She was connecting the pipes", "The connection failed")
    assert await found(alice, "connected pipe") == [both]


async def test_prefix_finds_words_that_begin_so(world: World) -> None:
    alice = world.as_("alice")
    long, other = await stored(alice, "authentication of users", "the author of users")
    assert set(await found(alice, "auth", mode="prefix")) == {long, other}
    assert await found(alice, "authent use", mode="prefix") == [long]
    assert await found(alice, "uthor", mode="prefix") == []


async def test_a_phrase_is_adjacent_and_in_order(world: World) -> None:
    alice = world.as_("alice")
    phrase, *_ = await stored(alice, "better error handling", "handling the error", "error and its handling")
    assert await found(alice, "error handling", mode="phrase") == [phrase]
    assert await found(alice, '"error handling" better', mode="boolean") == [phrase]


async def test_words_of_different_columns_make_no_phrase(world: World) -> None:
    alice = world.as_("alice")
    await stored(alice, "main.py getUserById pol-358 running walked")
    assert await found(alice, "main.py getuserbyid", mode="phrase") == []


async def test_alpha_and_not_delta_never_finds_delta(world: World) -> None:
    alice = world.as_("alice")
    plain, _ = await stored(alice, "alpha beta", "alpha delta")
    for query in ("alpha AND NOT delta", "alpha -delta", "alpha NOT (delta OR gamma)", "-delta alpha"):
        assert await found(alice, query, mode="boolean") == [plain], query


async def test_and_binds_tighter_than_or_and_parentheses_tighter_still(world: World) -> None:
    alice = world.as_("alice")
    one, two, _ = await stored(alice, "apple", "banana cherry", "banana")
    assert set(await found(alice, "apple OR banana cherry", mode="boolean")) == {one, two}
    assert await found(alice, "(apple OR banana) AND cherry", mode="boolean") == [two]


@pytest.mark.parametrize("query", ["POL-358", "2026-03-14", "foo-bar"])
async def test_compounds_are_found(world: World, query: str) -> None:
    alice = world.as_("alice")
    entry, _ = await stored(alice, f"see {query}, please", "358 bar 14")
    assert await found(alice, query) == [entry]
    assert await found(alice, query, mode="phrase") == [entry]


HOSTILE = [
    "C++",
    "foo OR",
    '"unterminated',
    "NEAR(",
    "-band",
    "'",
    "*",
    '""',
    "()",
    "((((((((((((((((((((((((((((((a",
    "NOT",
    "AND OR NOT",
    "a:b {x} ^2",
    "words : foo",
    "foo* & !bar <-> baz:*",
    "\\",
    "%",
    "\U0001f600",
    "\u0301",
    "x" * 10_000,
    "a OR " * 1999 + "b",
    "(" * 5000 + ")" * 5000,
    "NOT " * 2500,
]


@pytest.mark.parametrize("kind", ["match", "prefix", "phrase", "boolean"])
async def test_no_query_is_an_error_of_the_engine(world: World, kind: str) -> None:
    alice = world.as_("alice")
    await stored(alice, "C++ and foo")
    for query in HOSTILE:
        result = await alice.fts_search_context(query=query, mode=kind)
        assert result["count"] == len(result["results"])


async def test_a_language_named_with_signs_is_found(world: World) -> None:
    alice = world.as_("alice")
    signs, plain = await stored(alice, "written in C++ mostly", "vitamin C mostly")
    assert await found(alice, "C++") == [signs, plain]


async def test_scripts_without_spaces_are_found_by_any_part(world: World) -> None:
    alice = world.as_("alice")
    game, tools = await stored(alice, "今天玩成语接龙游戏", "维修设备")
    assert await found(alice, "成语接龙") == [game]
    assert await found(alice, "设备") == [tools]
    assert await found(alice, "备") == [tools]
    assert await found(alice, "备设") == []


async def test_parts_of_identifiers_are_found_and_the_whole_ranks_first(world: World) -> None:
    alice = world.as_("alice")
    whole, apart = await stored(alice, "call main.py now", "the main thing is py now")
    assert set(await found(alice, "main")) == {whole, apart}
    method, words = await stored(alice, "call getUserById here", "get user by id here")
    assert set(await found(alice, "user")) == {method, words}
    assert await found(alice, "getUserById") == [method, words]
    assert await found(alice, "getuserbyid") == [method]


async def test_unicode_spellings_of_the_same_word_are_one(world: World) -> None:
    alice = world.as_("alice")
    (entry,) = await stored(alice, "Cafe\u0301 in der STRASSE, İstanbul, ﬁnally Ｗｉｄｅ")
    for query in ("café", "cafe", "CAFÉ", "straße", "istanbul", "finally", "wide"):
        assert await found(alice, query) == [entry], query


async def test_the_last_of_60_000_words_is_found(world: World) -> None:
    alice = world.as_("alice")
    (entry,) = await stored(alice, " ".join(f"word{number}x" for number in range(60_000)))
    assert await found(alice, "word59999x") == [entry]
    assert await found(alice, "word0x word59999x") == [entry]


async def test_the_words_of_a_long_entry_may_stand_far_apart(world: World) -> None:
    alice = world.as_("alice")
    (entry,) = await stored(alice, f"needle {'hay ' * 2000} thread")
    assert await found(alice, "needle thread") == [entry]
    assert await found(alice, "needle NOT thread", mode="boolean") == []
    assert await found(alice, "hay -needle", mode="boolean") == []
    assert await found(alice, "hay OR (needle AND missing)", mode="boolean") == [entry]


async def test_the_passage_of_a_long_entry_is_where_the_words_are(world: World) -> None:
    alice = world.as_("alice")
    text = f"{'hay ' * 2000} needle {'hay ' * 2000}"
    await stored(alice, text)
    result = await alice.fts_search_context(query="needle")
    passage = result["results"][0]["passage"]
    assert "needle" in text[passage["start_char"] : passage["end_char"]]


@pytest.mark.parametrize("query", ["the who", "and"])
async def test_stop_words_alone_are_searched_for_and_explained(world: World, query: str) -> None:
    alice = world.as_("alice")
    entry, _ = await stored(alice, "The band and The Who", "a band")
    result = await alice.fts_search_context(query=query)
    assert [each["id"] for each in result["results"]] == [entry]
    assert "common" in str(result["warnings"])


async def test_stop_words_do_not_narrow_a_search(world: World) -> None:
    alice = world.as_("alice")
    (entry,) = await stored(alice, "rotor blades stall")
    assert await found(alice, "what is the stall of a rotor") == [entry]


async def test_rare_words_count_for_more_and_length_for_less(world: World) -> None:
    alice = world.as_("alice")
    common, rare, *_ = await stored(
        alice, "pump flow", "valve flow", *[f"pump text number {number}" for number in range(8)]
    )
    assert (await found(alice, "pump OR valve", mode="boolean"))[0] == rare
    long = await alice.store("pump flow " + " ".join(f"word{number}" for number in range(100)))
    order = await found(alice, "flow")
    assert order.index(common) < order.index(long)


async def test_equal_scores_are_listed_newest_first(world: World) -> None:
    alice = world.as_("alice")
    ids = [await alice.store("same words", thread_id=f"thread {number}") for number in range(30)]
    assert await found(alice, "same") == ids[::-1]


async def test_pages_of_tied_entries_show_each_once(world: World) -> None:
    alice = world.as_("alice")
    ids = [await alice.store("same words", thread_id=f"thread {number}") for number in range(60)]
    pages = [await found(alice, "same", limit=10, offset=offset) for offset in range(0, 60, 10)]
    assert [entry_id for page in pages for entry_id in page] == ids[::-1]


async def test_filters_narrow_a_search_by_words(world: World) -> None:
    alice = world.as_("alice")
    wanted = await alice.store("flow", thread_id="one", tags=["a"], metadata={"status": "open"})
    await alice.store("flow", thread_id="two", tags=["a"], metadata={"status": "open"})
    await alice.store("flow again", thread_id="one", tags=["b"], metadata={"status": "done"})
    assert await found(alice, "flow", thread_id="one", tags=["a"], metadata={"status": "open"}) == [wanted]


async def scores_of(person: Person, query: str, **arguments: Any) -> list[tuple[str, float]]:
    """The ids and scores that fts_search_context answers, best first."""
    result = await person.fts_search_context(query=query, limit=100, **arguments)
    return [(entry["id"], entry["scores"]["fts_score"]) for entry in result["results"]]


async def test_a_hidden_near_duplicate_changes_no_score_and_takes_no_slot(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await stored(alice, "rotor blade stall", "rotor hub", "blade flutter and stall", "gear box")
    queries = {
        "match": "blade stall",
        "boolean": "rotor OR blade OR gear",
        "prefix": "bla",
        "phrase": "rotor blade",
    }
    before = {mode: await scores_of(alice, query, mode=mode) for mode, query in queries.items()}
    assert all(before.values())
    for number in range(20):
        await bob.store("rotor blade stall", thread_id=f"hidden {number}")
        await bob.store("rotor blade stall gear " + "blade " * 500, thread_id=f"hidden {number}")
    assert {mode: await scores_of(alice, query, mode=mode) for mode, query in queries.items()} == before


async def test_an_entry_that_the_filter_leaves_out_changes_no_score(world: World) -> None:
    alice = world.as_("alice")
    await stored(alice, "rotor blade stall", "rotor hub")
    before = await scores_of(alice, "rotor", thread_id="t")
    await stored(alice, *["rotor"] * 5, thread_id="elsewhere")
    assert await scores_of(alice, "rotor", thread_id="t") == before


async def test_highlights_mark_what_matched_and_leave_the_text_as_it_is(world: World) -> None:
    alice = world.as_("alice")
    await stored(alice, "<b>Flows</b> & flow-rate in getUserById " + "filler " * 300)
    result = await alice.fts_search_context(query="flow user", highlight=True)
    shown = result["results"][0]["highlighted"]
    assert shown.startswith("<b><mark>Flows</mark></b> & <mark>flow</mark>-rate in get<mark>User</mark>ById")
    assert len(shown) < 400
    result = await alice.fts_search_context(query="flow user")
    assert "highlighted" not in result["results"][0]


async def test_words_are_found_after_an_update_and_a_delete(world: World) -> None:
    alice = world.as_("alice")
    (entry,) = await stored(alice, "before")
    await alice.update_context(context_id=entry, text="after")
    assert await found(alice, "before") == []
    assert await found(alice, "after") == [entry]
    await alice.delete_context(context_ids=[entry])
    assert await found(alice, "after") == []


@pytest.mark.parametrize(
    "language, text, query",
    [
        ("german", "Die Häuser der Lehrerinnen", "Haus Lehrerin"),
        ("french", "les chevaux étaient prêts", "cheval prêt"),
        ("russian", "большие города", "большой город"),
        ("spanish", "las canciones", "canción"),
        ("simple", "running", "running"),
    ],
)
async def test_the_language_is_a_setting(serve_with: ServeWith, language: str, text: str, query: str) -> None:
    async with serve_with(fts_language=language) as world:
        alice = world.as_("alice")
        (entry,) = await stored(alice, text)
        result = await alice.fts_search_context(query=query)
        assert ([each["id"] for each in result["results"]], result["language"]) == ([entry], language)


async def test_words_are_derived_anew_when_the_language_changes(
    mode: str, make_store: Callable[..., Store], wipe: Callable[[], None]
) -> None:
    wipe()
    simple, english = (settings_for(fts_language=language) for language in ("simple", "english"))
    async with serving(simple, make_store(mode, simple)) as world:
        (entry,) = await stored(world.as_("alice"), f"running {'filler ' * 400} walked")
        assert await found(world.as_("alice"), "runs") == []
    async with serving(english, make_store(mode, english)) as world:
        assert await found(world.as_("alice"), "runs walking") == [entry]


async def test_the_plan_is_explained(world: World) -> None:
    alice = world.as_("alice")
    await stored(alice, "flow")
    result = await alice.fts_search_context(query="flow OR (rate AND air)", mode="boolean", explain_query=True)
    assert "chunk" in result["stats"]["query_plan"]
