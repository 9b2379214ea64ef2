"""Whatever the locale, the time zone and the date style of a database, the answers are the same."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parity.conftest import Place, examples
from parity.model import passes
from parity.operations import TAGS, THREADS, conditions
from parity.values import STRINGS, corpus
from pgcontext.text.metadata import normalise_metadata
from pgcontext.text.tags import normalise_tags
from support.world import Person

DOCUMENTS = corpus()


@dataclass(frozen=True, slots=True)
class Loaded:
    """Somebody whose entries hold the documents of the corpus, by their ids."""

    person: Person
    ids: list[str]

    async def find(self, **filters: Any) -> list[int]:
        """The places in the corpus of what a search finds."""
        result = await self.person.search_context(limit=100, **filters)
        assert "error" not in result
        found = [self.ids.index(entry["id"]) for entry in result["results"]]
        assert found == sorted(found, reverse=True), "the newest come first"
        return found[::-1]


@pytest.fixture(scope="module")
async def loaded(place: Place) -> Loaded:
    person = place.world.as_("alice")
    entries = [
        {"thread_id": "t", "source": "user", "text": str(number), "metadata": metadata, "deduplicate": False}
        for number, metadata in enumerate(DOCUMENTS)
    ]
    stored = await person.store_context_batch(entries=entries)
    return Loaded(person, [item["context_id"] for item in stored["results"]])


async def test_metadata_come_back_as_they_were_sent(loaded: Loaded) -> None:
    found = await loaded.person.get(*loaded.ids)
    sent = [normalise_metadata(document) for document in DOCUMENTS]
    assert [repr(_sorted(entry["metadata"])) for entry in found] == [repr(_sorted(document)) for document in sent]


def _sorted(value: Any) -> Any:
    """JSON objects have no order of their own."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return list(map(_sorted, value)) if isinstance(value, list) else value


FOUND_BEFORE = [
    {"key": "references.Ticket", "operator": "eq", "value": "X"},
    {"key": "references.ticket", "operator": "eq", "value": "x"},
    {"key": "references.A", "operator": "eq", "value": 0},
    {"key": "technologies", "operator": "array_contains", "value": 2**63},
    {"key": "technologies", "operator": "array_contains", "value": "k"},
    {"key": "status", "operator": "starts_with", "value": "\U0010ffff"},
    {"key": "n", "operator": "lte", "value": 5e-324},
]


@examples(30)
@example(given=FOUND_BEFORE)
@given(given=st.lists(conditions(), min_size=1, max_size=25))
async def test_a_filter_finds_what_it_says(loaded: Loaded, given: list[dict[str, Any]]) -> None:
    expected = [
        [number for number, document in enumerate(DOCUMENTS) if passes(document, condition)] for condition in given
    ]
    found = await asyncio.gather(*(loaded.find(metadata_filters=[condition]) for condition in given))
    for condition, wanted, got in zip(given, expected, found, strict=True):
        assert got == wanted, condition
    in_all = set.intersection(*map(set, expected[:3]))
    assert await loaded.find(metadata_filters=given[:3]) == sorted(in_all)


async def test_simple_pairs_are_exact(loaded: Loaded) -> None:
    for value in (*STRINGS, True, 7, 0.1):
        condition = {"key": "a", "operator": "eq", "value": value, "case_sensitive": True}
        wanted = [number for number, document in enumerate(DOCUMENTS) if passes(document, condition)]
        assert await loaded.find(metadata={"a": value}) == wanted, value


async def test_strings_are_ordered_by_code_point(place: Place) -> None:
    person = place.world.as_("sorter")
    await person.store_context_batch(
        entries=[
            {"thread_id": "t", "source": "user", "text": "x", "metadata": {"s": text}, "deduplicate": False}
            for text in STRINGS
        ]
    )
    for text in STRINGS:
        found = await person.search_context(
            metadata_filters=[{"key": "s", "operator": "gt", "value": text, "case_sensitive": True}], limit=100
        )
        assert sorted(entry["metadata"]["s"] for entry in found["results"]) == sorted(
            other for other in STRINGS if other > text
        )


async def test_tags_threads_and_grants_are_told_apart_and_ordered_by_code_point(place: Place) -> None:
    person = place.world.as_("İrem")
    tags = normalise_tags(TAGS)
    ids = [await person.store("x", thread_id=thread, tags=TAGS) for thread in THREADS]
    for entry in await person.get(*ids):
        assert entry["tags"] == list(tags)
    for tag in ("I", "i", "ı", "ß", "ss", "e\u0301", "\u00e9"):
        wanted = ids[::-1] if tag.lower() in tags else []
        assert await person.search(tags=[tag]) == wanted, tag
    threads = (await person.list_threads())["threads"]
    assert [thread["thread_id"] for thread in threads] == THREADS[::-1]
    for thread_id, entry_id in zip(THREADS, ids, strict=True):
        assert await person.search(thread_id=thread_id) == [entry_id]
    grantees = ["I", "i", "ı", "İ", "Z", "a", "z", "ß", "ss", "\u00e9", "e\u0301", "\uffff", "😀", "_", "-"]
    for grantee in grantees:
        await person.share_context(
            context_id=ids[0], principal_type="user", principal_id=grantee, permission="read"
        )
    listed = (await person.list_context_grants(context_id=ids[0]))["grants"]
    assert [grant["principal_id"] for grant in listed] == sorted(grantees)
    assert await place.world.as_("i").search() == [ids[0]]
    assert await place.world.as_("SS").search() == []


WORDS = [
    *(
        "TITLE",
        "tıtle",
        "İstanbul",
        "\u017fecret",
        "\u212aelvin",
        "I\u0307ce",
        "Ì\u0301ÍĮJ\u0300",
        "GROẞ",
        "straße",
    ),
    *(
        "ΟΔΟΣ",
        "ὈΔΥΣΣΕΎΣ",
        "ΣΟΦΊΑ",
        "Привет",
        "ЩЁЛК",
        "ǅungla",
        "\ufb01nal",
        "Éte\u0301",
        "Åse",
        "\u212bse",
        "日本語",
        "设备管理",
    ),
    *("100%_\\x", "a'b\"c", "[x](y)", "\U00010400eseret", "ՀԱՅԵՐԵՆ", "ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ", "ꮳꮃꭹ"),
]


async def test_patterns_match_as_python_has_it(place: Place) -> None:
    """However a database folds letters, cuts words and orders them; and also where its index is asked."""
    person = place.world.as_("grepper")
    texts = [text for word in WORDS for text in (word, f"a{word}b", f"one, {word}: two")]
    ids: list[str] = []
    for entries in (texts, ["filler"] * 400):
        for start in range(0, len(entries), 100):
            stored = await person.store_context_batch(
                entries=[
                    {"thread_id": "t", "source": "user", "text": text, "deduplicate": False}
                    for text in entries[start : start + 100]
                ]
            )
            ids += [item["context_id"] for item in stored["results"]]
    patterns = {form for word in WORDS for form in (word, word.lower(), word.upper(), word.swapcase(), word[1:])}
    for pattern in sorted(patterns):
        for is_exact in (False, True):
            expression = re.compile(re.escape(pattern), 0 if is_exact else re.IGNORECASE)
            expected = [
                (entry_id, len(found))
                for entry_id, text in zip(ids, texts, strict=False)
                if (found := expression.findall(text))
            ]
            answer = await person.grep_context(pattern=pattern, case_sensitive=is_exact, max_matches=1000)
            got = [(entry["context_id"], entry["match_count"]) for entry in answer["results"]]
            assert got[::-1] == expected, (pattern, is_exact)
            assert answer["truncated"] is False


async def test_dates_are_in_utc(place: Place) -> None:
    person = place.world.as_("dated")
    entry_id = await person.store("x")
    place.backdate(entry_id, datetime(2026, 3, 14, 23, 30, tzinfo=UTC))
    [entry] = await person.get(entry_id)
    assert entry["created_at"] == "2026-03-14T23:30:00.000000Z"
    for dates, is_found in (
        ({"start_date": "2026-03-14", "end_date": "2026-03-14"}, True),
        ({"start_date": "2026-03-15"}, False),
        ({"end_date": "2026-03-14T23:29:59.999999"}, False),
        ({"start_date": "2026-03-15T08:30:00+09:00", "end_date": "2026-03-14T19:30:00-04:00"}, True),
        ({"start_date": entry["created_at"], "end_date": entry["created_at"]}, True),
        ({"start_date": "0001-01-01", "end_date": "9999-12-31"}, True),
        ({"end_date": "0001-01-01"}, False),
    ):
        assert await person.search(**dates) == [entry_id] * is_found, dates


async def test_a_day_has_24_hours(place: Place) -> None:
    """Some of these spans reach over a change of the clocks, wherever they are changed."""
    person = place.world.as_("aged")
    for days in (1, 60, 120, 180, 240, 300):
        moment = datetime.now(UTC) - timedelta(days=days)
        younger, older = await person.store("younger"), await person.store("older")
        place.backdate(younger, moment + timedelta(minutes=30))
        place.backdate(older, moment - timedelta(minutes=30))
        result = await person.delete_context_batch(thread_ids=["t"], older_than_days=days)
        assert (result["deleted_count"], await person.search()) == (1, [younger]), days
        await person.delete_context(thread_id="t")
