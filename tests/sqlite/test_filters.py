"""The sixteen metadata operators and the other filters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pgcontext.errors import InvalidArgument, StartRefused
from pgcontext.principal import Principal
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.values import AccessPolicy, EntryFilter, MetadataCondition, NewEntry
from pgcontext.text.dates import parse_date

ALICE = Principal("alice")
VALUES = {
    "active": "active",
    "ACTIVE": "ACTIVE",
    "Ärger": "Ärger",
    "ärger": "ärger",
    "five": "5",
    "007": "007",
    "100%": "100%_off",
    "empty": "",
    "private use": "\ue000",
    "emoji": "😀",
    "9": 9,
    "10": 10,
    "100": 100,
    "-1.5": -1.5,
    "7.0": 7.0,
    "2^53+1": 2**53 + 1,
    "2^63-1": 2**63 - 1,
    "2^64": 2**64,
    "true": True,
    "false": False,
    "null": None,
    "list": ["a", "B", 1, True, None, ["x"], {"a": 1}],
    "nested list": [["a"]],
    "object": {"a": "a", "0": "zero", "b": {"c": 1}},
}
STRINGS = {name for name, value in VALUES.items() if isinstance(value, str)}
NUMBERS = {name for name, value in VALUES.items() if type(value) in (int, float)}
PRESENT = VALUES.keys() - {"null"}
TABLE = [
    ("v", "eq", "Active", False, {"active", "ACTIVE"}),
    ("v", "eq", "active", True, {"active"}),
    ("v", "eq", "ÄRGER", False, {"Ärger"}),
    ("v", "eq", "5", False, {"five"}),
    ("v", "eq", 5, False, set()),
    ("v", "eq", 7, False, {"7.0"}),
    ("v", "eq", "7", False, set()),
    ("v", "eq", 2**53 + 1, False, {"2^53+1"}),
    ("v", "eq", float(2**53), False, set()),
    ("v", "eq", 2**63 - 1, False, {"2^63-1"}),
    ("v", "eq", 2**64, False, {"2^64"}),
    ("v", "eq", 2**64 + 1, False, {"2^64"}),
    ("v", "eq", 10**400, False, set()),
    ("v", "eq", True, False, {"true"}),
    ("v", "eq", 1, False, set()),
    ("v", "ne", "active", False, STRINGS - {"active", "ACTIVE"}),
    ("v", "ne", "active", True, STRINGS - {"active"}),
    ("v", "ne", 9, False, NUMBERS - {"9"}),
    ("v", "ne", True, False, {"false"}),
    ("v", "gt", 9, False, NUMBERS - {"9", "-1.5", "7.0"}),
    ("v", "gte", 10, False, NUMBERS - {"9", "-1.5", "7.0"}),
    ("v", "lt", 9.5, False, {"9", "-1.5", "7.0"}),
    ("v", "lte", 9, False, {"9", "-1.5", "7.0"}),
    ("v", "lt", -(10**400), False, set()),
    ("v", "lte", 10**400, False, NUMBERS),
    ("v", "gt", "active", True, STRINGS - {"empty", "100%", "007", "five", "ACTIVE", "active"}),
    ("v", "gte", "\ue000", False, {"private use", "emoji"}),
    ("v", "gt", "\ue000", False, {"emoji"}),
    ("v", "in", ["ACTIVE", "007"], False, {"active", "ACTIVE", "007"}),
    ("v", "in", ["ACTIVE", "007"], True, {"ACTIVE", "007"}),
    ("v", "in", ["active", 9, False, 2**64], False, {"active", "ACTIVE", "9", "false", "2^64"}),
    ("v", "not_in", ["active", "5"], False, STRINGS - {"active", "ACTIVE", "five"}),
    ("v", "not_in", ["active"], True, STRINGS - {"active"}),
    ("v", "not_in", [9, 10, 2**64], False, NUMBERS - {"9", "10", "2^64"}),
    ("v", "not_in", ["active", True], False, (STRINGS - {"active", "ACTIVE"}) | {"false"}),
    ("v", "exists", None, False, PRESENT),
    ("v", "is_not_null", None, False, PRESENT),
    ("v", "not_exists", None, False, {"null", "absent"}),
    ("v", "is_null", None, False, {"null"}),
    ("v", "contains", "CTI", False, {"active", "ACTIVE"}),
    ("v", "contains", "cti", True, {"active"}),
    ("v", "contains", "%_", False, {"100%"}),
    ("v", "contains", "", False, STRINGS),
    ("v", "starts_with", "Act", False, {"active", "ACTIVE"}),
    ("v", "starts_with", "ACT", True, {"ACTIVE"}),
    ("v", "starts_with", "100%", False, {"100%"}),
    ("v", "starts_with", "1_", False, set()),
    ("v", "starts_with", "", False, STRINGS),
    ("v", "starts_with", "\ue000", False, {"private use"}),
    ("v", "starts_with", "\ud7ff", False, set()),
    ("v", "starts_with", "\U0010ffff", False, set()),
    ("v", "ends_with", "IVE", False, {"active", "ACTIVE"}),
    ("v", "ends_with", "IVE", True, {"ACTIVE"}),
    ("v", "ends_with", "_off", False, {"100%"}),
    ("v", "ends_with", "inactive", False, set()),
    ("v", "ends_with", "", True, STRINGS),
    ("v", "array_contains", "A", False, {"list"}),
    ("v", "array_contains", "b", False, {"list"}),
    ("v", "array_contains", "b", True, set()),
    ("v", "array_contains", "B", True, {"list"}),
    ("v", "array_contains", 1, False, {"list"}),
    ("v", "array_contains", 1.0, False, {"list"}),
    ("v", "array_contains", "1", False, set()),
    ("v", "array_contains", True, False, {"list"}),
    ("v", "array_contains", False, False, set()),
    ("v", "array_contains", "active", False, set()),
    ("v", "array_contains", 2**70, False, set()),
    ("v.a", "eq", "A", False, {"object"}),
    ("v.0", "eq", "zero", False, {"object"}),
    ("v.0", "exists", None, False, {"object"}),
    ("v.b.c", "gte", 1, False, {"object"}),
    ("v.a.b", "exists", None, False, set()),
    ("absent", "ne", "x", False, set()),
    ("absent", "not_in", ["x"], False, set()),
    ("absent", "is_null", None, False, set()),
]


@pytest.fixture(scope="module")
async def stores(tmp_path_factory):
    opened = []
    for fields in ({}, {"v": "string"}, {"v": "integer"}, {"v": "boolean"}):
        store = SqliteStore(tmp_path_factory.mktemp("filters") / "e.db", AccessPolicy(), indexed_fields=fields)
        await store.open()
        entries = [NewEntry("t", "user", name, {"v": value}) for name, value in VALUES.items()]
        await store.store_entries(ALICE, [*entries, NewEntry("t", "user", "absent")], True)
        opened.append(store)
    yield opened
    for store in opened:
        await store.close()


@pytest.mark.parametrize(("key", "operator", "value", "case_sensitive", "names"), TABLE)
async def test_an_operator_matches_exactly_these(stores, key, operator, value, case_sensitive, names):
    filter = EntryFilter(metadata=(MetadataCondition(key, operator, value, case_sensitive),))
    for store in stores:
        found = await store.search_entries(ALICE, filter, 100, 0, 300)
        assert {entry.text_content for entry in found} == names


@pytest.mark.parametrize(
    ("key", "operator", "value"),
    [
        ("v", "eq", None),
        ("v", "eq", ["a"]),
        ("v", "in", []),
        ("v", "in", [{"a": 1}]),
        ("v", "array_contains", ["a"]),
        ("v", "contains", 5),
        ("v", "resembles", "x"),
        ("v' or true --", "exists", None),
        ('v"', "exists", None),
        ("v..a", "exists", None),
        ("", "exists", None),
    ],
)
async def test_a_condition_without_sense_is_refused(stores, key, operator, value):
    with pytest.raises(InvalidArgument, match="cannot be applied"):
        await stores[0].search_entries(
            ALICE, EntryFilter(metadata=(MetadataCondition(key, operator, value),)), 9, 0, 9
        )


async def test_all_parts_of_a_filter_must_hold_and_any_of_its_tags(store, put):
    first = await put("one", tags=("a", "b"), metadata={"x": 1})
    second = await put("two", tags=("b",), source="agent", thread_id="u")
    third = await put("three", thread_id="u")

    async def found(**parts):
        return [entry.id for entry in await store.search_entries(ALICE, EntryFilter(**parts), 10, 0, 300)]

    assert await found(tags=("b", "none")) == [second, first]
    assert await found(tags=("a",), source="agent") == []
    assert await found(thread_id="u") == [third, second]
    assert await found(thread_id="u", source="user") == [third]
    assert await found(content_type="multimodal") == []
    assert await found(metadata=(MetadataCondition("x", "eq", 1), MetadataCondition("x", "lt", 1))) == []


async def test_an_entry_is_found_by_the_time_it_was_created(store, put):
    await put("earlier")
    entry_id = await put("now")
    await put("later")
    (entry,) = await store.get_entries(ALICE, [entry_id])

    async def found(start, end):
        filter = EntryFilter(created_from=start, created_to=end)
        return [entry.id for entry in await store.search_entries(ALICE, filter, 10, 0, 300)]

    moment = parse_date(entry.created_at, is_end=False)
    assert await found(moment, moment) == [entry_id]
    assert await found(moment + timedelta(microseconds=1), moment) == []
    year_one, year_9999 = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert len(await found(year_one, year_9999)) == 3
    assert await found(year_9999, None) == []


async def test_an_equality_on_an_indexed_field_is_answered_by_its_index_in_order(open_store):
    store = await open_store(indexed_fields={"status": "string", "priority": "integer", "done": "boolean"})
    for key, value, type in (("status", "Open", "string"), ("priority", 5, "integer"), ("done", True, "boolean")):
        filter = EntryFilter(metadata=(MetadataCondition(key, "eq", value),))
        plan = await store.explain_search(ALICE, filter, 30, 0)
        assert f"USING INDEX entry_metadata_{key}_{type} (<expr>=?)" in plan
        assert "TEMP B-TREE" not in plan
    for operator, value in (("starts_with", "op"), ("in", ["open", "done"])):
        filter = EntryFilter(metadata=(MetadataCondition("status", operator, value),))
        assert "entry_metadata_status_string" in await store.explain_search(ALICE, filter, 30, 0)


@pytest.mark.parametrize(
    ("filter", "index"),
    [
        (EntryFilter(), "entry_created_idx"),
        (EntryFilter(thread_id="t"), "entry_thread_idx (thread_id=?)"),
        (EntryFilter(tags=("a",)), "entry_tag_idx (tag=?)"),
        (EntryFilter(created_from=datetime(2026, 1, 1, tzinfo=UTC)), "entry_created_idx (created_at>?)"),
    ],
)
async def test_a_search_uses_its_index(store, filter, index):
    assert index in await store.explain_search(ALICE, filter, 30, 0)


async def test_the_indexes_follow_the_sync_mode(open_store):
    await (await open_store(indexed_fields={"a": "string", "b": "integer"})).close()

    async def names():
        store = await open_store(indexed_fields={}, index_sync_mode="warn")
        query = "select name from sqlite_schema where name like 'entry_metadata%' order by 1"
        found = await store._database.read(lambda connection: connection.execute(query).fetchall())
        await store.close()
        return [name.removeprefix("entry_metadata_") for (name,) in found]

    assert await names() == ["a_string", "b_integer"]
    await (await open_store(indexed_fields={"c.d": "float"})).close()
    assert await names() == ["a_string", "b_integer", "c.d_float"]
    with pytest.raises(StartRefused, match=r"a: surplus.*e: missing"):
        await open_store(indexed_fields={"b": "integer", "e": "string"}, index_sync_mode="strict")
    await (await open_store(indexed_fields={"b": "integer", "o": "object"}, index_sync_mode="auto")).close()
    assert await names() == ["b_integer"]
    await (await open_store(indexed_fields={"b": "integer", "o": "object"}, index_sync_mode="strict")).close()
