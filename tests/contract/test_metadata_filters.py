"""The sixteen operators of metadata_filters, and the plain equality of metadata, over values of every type."""

from __future__ import annotations

from typing import Any

import pytest

from support.world import Person, World

VALUES: dict[str, Any] = {
    "nine": 9,
    "ten": 10,
    "hundred": 100,
    "half": 10.5,
    "minus": -3,
    "zero": 0,
    "big": 2**53,
    "bigger": 2**53 + 1,
    "int64": 2**63 - 1,
    "beyond": 2**70 + 1,
    "huge": 1e300,
    "third": 0.1 + 0.2,
    "ten_text": "10",
    "zeros_text": "007",
    "stamp_text": "2024_0717_150625",
    "lower": "error handling",
    "upper": "ERROR Handling",
    "umlaut": "Ärger",
    "small_umlaut": "ärger",
    "percent": "100% sure_thing\\",
    "quote": "it's",
    "astral": "\U0001f600",
    "private_use": "\uffee",
    "blank": "",
    "yes": True,
    "no": False,
    "null": None,
    "array": ["a", "b", 10, True, None, "ERROR"],
    "array_in_array": [["a"]],
    "empty_array": [],
    "object": {"a": 1, "0": "in an object"},
    "array_of_object": [{"a": 1}],
}
STRINGS = {name for name, value in VALUES.items() if isinstance(value, str)}
NUMBERS = {
    name for name, value in VALUES.items() if isinstance(value, int | float) and not isinstance(value, bool)
}
PRESENT = {name for name, value in VALUES.items() if value is not None}


def words(names: str) -> set[str]:
    return set(names.split())


Row = tuple[str, Any, set[str]]
IGNORING_CASE: list[Row] = [
    # numbers match JSON numbers only, and exactly
    ("eq", 10, {"ten"}),
    ("eq", 10.0, {"ten"}),
    ("eq", 10.5, {"half"}),
    ("eq", 7, set()),
    ("eq", 2**53, {"big"}),
    ("eq", 2**53 + 1, {"bigger"}),
    ("eq", 2**63 - 1, {"int64"}),
    ("eq", 1e300, {"huge"}),
    ("eq", 0, {"zero"}),
    ("eq", -0.0, {"zero"}),
    ("eq", 1, set()),
    ("ne", 10, NUMBERS - {"ten"}),
    ("gt", 50, words("hundred big bigger int64 beyond huge")),
    ("gte", 10, words("ten half hundred big bigger int64 beyond huge")),
    ("gt", 10, words("half hundred big bigger int64 beyond huge")),
    ("lt", 10, words("nine minus zero third")),
    ("lte", 10, words("nine ten minus zero third")),
    ("lt", 0.5, words("minus zero third")),
    ("eq", 0.3, set()),
    ("eq", 0.30000000000000004, {"third"}),
    # beyond 64 bits at double precision
    ("eq", 2**70, {"beyond"}),
    ("ne", 2**70, NUMBERS - {"beyond"}),
    ("gte", 2**70, words("beyond huge")),
    ("gt", 2**70, {"huge"}),
    ("in", [2**70, 1e300, 9], words("nine beyond huge")),
    ("gt", 2**53, words("bigger int64 beyond huge")),
    ("gte", 2**63 - 1, words("int64 beyond huge")),
    ("gt", 2**63 - 1, words("beyond huge")),
    ("lt", -1e308, set()),
    # strings match JSON strings only; A-Z are folded, and nothing else
    ("eq", "10", {"ten_text"}),
    ("eq", "007", {"zeros_text"}),
    ("eq", "2024_0717_150625", {"stamp_text"}),
    ("eq", "Error Handling", words("lower upper")),
    ("eq", "ÄRGER", {"umlaut"}),
    ("eq", "äRGER", {"small_umlaut"}),
    ("eq", "", {"blank"}),
    ("eq", "it's", {"quote"}),
    ("eq", "true", set()),
    ("ne", "error handling", STRINGS - {"lower", "upper"}),
    ("ne", "absent", STRINGS),
    # the order of strings is by code point, also beyond the basic plane
    ("gt", "z", words("umlaut small_umlaut astral private_use")),
    ("gte", "\uffee", words("astral private_use")),
    ("gt", "\uffee", {"astral"}),
    ("lt", "1", words("zeros_text blank")),
    ("lte", "10", words("zeros_text blank ten_text")),
    ("gt", "ERROR HANDLING", words("quote umlaut small_umlaut astral private_use")),
    # booleans match JSON booleans only
    ("eq", True, {"yes"}),
    ("eq", False, {"no"}),
    ("ne", True, {"no"}),
    ("ne", False, {"yes"}),
    # membership, each member by its own type
    ("in", [9, 10, "007", True], words("nine ten zeros_text yes")),
    ("in", ["ERROR HANDLING"], words("lower upper")),
    ("in", [1.0], set()),
    ("in", [100], {"hundred"}),
    ("not_in", [9, 10], NUMBERS - {"nine", "ten"}),
    ("not_in", ["error handling", "x"], STRINGS - {"lower", "upper"}),
    ("not_in", [True], {"no"}),
    ("not_in", [True, False], set()),
    ("not_in", [9, "007"], (NUMBERS | STRINGS) - {"nine", "zeros_text"}),
    # presence and null
    ("exists", None, PRESENT),
    ("is_not_null", None, PRESENT),
    ("not_exists", None, words("null absent")),
    ("is_null", None, {"null"}),
    # parts of strings, in which nothing is a wildcard
    ("contains", "HAND", words("lower upper")),
    ("contains", "%", {"percent"}),
    ("contains", "_", words("stamp_text percent")),
    ("contains", "\\", {"percent"}),
    ("contains", "'", {"quote"}),
    ("contains", "ÄR", {"umlaut"}),
    ("contains", "\U0001f600", {"astral"}),
    ("contains", "", STRINGS),
    ("contains", "1", words("ten_text stamp_text percent")),
    ("starts_with", "Err", words("lower upper")),
    ("starts_with", "rror", set()),
    ("starts_with", "100%", {"percent"}),
    ("starts_with", "1_", set()),
    ("starts_with", "ä", {"small_umlaut"}),
    ("starts_with", "\U0001f600", {"astral"}),
    ("starts_with", "", STRINGS),
    ("ends_with", "LING", words("lower upper")),
    ("ends_with", "thing\\", {"percent"}),
    ("ends_with", "7", {"zeros_text"}),
    ("ends_with", "", STRINGS),
    # elements of arrays, by type
    ("array_contains", "a", {"array"}),
    ("array_contains", "error", {"array"}),
    ("array_contains", 10, {"array"}),
    ("array_contains", 10.0, {"array"}),
    ("array_contains", "10", set()),
    ("array_contains", True, {"array"}),
    ("array_contains", False, set()),
    ("array_contains", 1, set()),
    ("array_contains", "c", set()),
]
EXACT: list[Row] = [
    ("eq", "error handling", {"lower"}),
    ("eq", "Error Handling", set()),
    ("ne", "error handling", STRINGS - {"lower"}),
    ("gt", "ERROR Handling", STRINGS - words("ten_text zeros_text stamp_text upper percent blank")),
    ("lt", "F", words("ten_text zeros_text stamp_text upper percent blank")),
    ("in", ["ERROR Handling", 9], words("upper nine")),
    ("not_in", ["ERROR Handling"], STRINGS - {"upper"}),
    ("contains", "Hand", {"upper"}),
    ("starts_with", "E", {"upper"}),
    ("starts_with", "Ä", {"umlaut"}),
    ("ends_with", "ling", words("lower upper")),
    ("ends_with", "LING", set()),
    ("array_contains", "ERROR", {"array"}),
    ("array_contains", "error", set()),
    ("eq", 10, {"ten"}),
    ("eq", True, {"yes"}),
]


@pytest.fixture(scope="module")
async def reader(module_world: World) -> Person:
    """Somebody with one entry for each of the values, under the key `v`, and one without the key."""
    alice = module_world.as_("alice of the values")
    await store_documents(alice, {name: {"v": value} for name, value in VALUES.items()} | {"absent": {"w": 1}})
    return alice


async def store_documents(person: Person, documents: dict[str, dict[str, Any]]) -> None:
    """Store one entry for each metadata document, with its name as the text."""
    await person.delete_context(thread_id="t")
    await person.store_context_batch(
        entries=[
            {"thread_id": "t", "source": "agent", "text": name, "metadata": document}
            for name, document in documents.items()
        ]
    )


async def names(person: Person, **filters: Any) -> set[str]:
    found = await person.search_context(limit=100, **filters)
    assert "error" not in found, found
    assert found["count"] == len(found["results"])
    return {entry["text_content"] for entry in found["results"]}


def identify(row: Row) -> str:
    return f"{row[0]} {row[1]!a}"[:40]


@pytest.mark.parametrize("row", IGNORING_CASE, ids=identify)
async def test_an_operator_is_true_to_types_and_ignores_the_case_of_a_to_z(reader: Person, row: Row) -> None:
    operator, value, expected = row
    condition = {"key": "v", "operator": operator, "value": value}
    assert await names(reader, metadata_filters=[condition]) == expected
    assert await names(reader, metadata_filters=[condition | {"case_sensitive": False}]) == expected


@pytest.mark.parametrize("row", EXACT, ids=identify)
async def test_case_sensitive_operators_are_exact(reader: Person, row: Row) -> None:
    operator, value, expected = row
    condition = {"key": "v", "operator": operator, "value": value, "case_sensitive": True}
    assert await names(reader, metadata_filters=[condition]) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    (
        (10, {"ten"}),
        ("10", {"ten_text"}),
        ("error handling", {"lower"}),
        ("Error Handling", set()),
        (True, {"yes"}),
        (1, set()),
        ("", {"blank"}),
        (2**53 + 1, {"bigger"}),
    ),
)
async def test_plain_metadata_is_exact_equality(reader: Person, value: Any, expected: set[str]) -> None:
    assert await names(reader, metadata={"v": value}) == expected


async def test_conditions_hold_together(reader: Person) -> None:
    between = [
        {"key": "v", "operator": "gte", "value": 9},
        {"key": "v", "operator": "lt", "value": 100},
        {"key": "v", "operator": "ne", "value": 10.5},
    ]
    assert await names(reader, metadata_filters=between) == {"nine", "ten"}
    assert await names(reader, metadata={"v": 9}, metadata_filters=between) == {"nine"}
    assert await names(reader, metadata={"v": 9, "w": 1}) == set()
    assert await names(reader, metadata={}, metadata_filters=[]) == VALUES.keys() | {"absent"}


async def test_an_operator_that_needs_no_value_ignores_one(reader: Person) -> None:
    condition = {"key": "v", "operator": "exists"}
    assert await names(reader, metadata_filters=[condition]) == PRESENT


async def test_a_list_has_at_most_100_members(reader: Person) -> None:
    members = [*range(1000, 1099), 9]
    assert await names(reader, metadata_filters=[{"key": "v", "operator": "in", "value": members}]) == {"nine"}
    found = await reader.search_context(metadata_filters=[{"key": "v", "operator": "in", "value": [*members, 10]}])
    assert found["error"] == "Metadata filter validation failed"


NESTED: list[dict[str, Any]] = [
    {"a": {"b": {"c": 1}}},
    {"a": {"b": "x"}},
    {"a": ["x", "y"]},
    {"a": {"0": "zero", "b-c_D9": True}},
    {"a.b": "x"},
    {"0": "top"},
    {"$": 1, "a": None},
]


@pytest.fixture(scope="module")
async def walker(module_world: World) -> Person:
    """Somebody with one entry for each of the nested documents, named by their places."""
    alice = module_world.as_("alice of the paths")
    await store_documents(alice, {str(number): document for number, document in enumerate(NESTED)})
    return alice


@pytest.mark.parametrize(
    ("key", "operator", "value", "expected"),
    (
        ("a.b.c", "eq", 1, [0]),
        ("a.b", "eq", "X", [1]),
        ("a.b", "exists", None, [0, 1]),
        ("a.b", "not_exists", None, [2, 3, 4, 5, 6]),
        ("a.0", "eq", "zero", [3]),
        ("a.0", "exists", None, [3]),
        ("a.1", "exists", None, []),
        ("a.b-c_D9", "eq", True, [3]),
        ("0", "eq", "top", [5]),
        ("a", "is_null", None, [6]),
        ("a.b", "is_null", None, []),
        ("A.b", "exists", None, []),
        ("a.b.c.d", "exists", None, []),
    ),
)
async def test_a_dot_descends_into_objects_only(
    walker: Person, key: str, operator: str, value: Any, expected: list[int]
) -> None:
    condition = {"key": key, "operator": operator, "value": value}
    assert await names(walker, metadata_filters=[condition]) == {str(number) for number in expected}


FAULTS: list[dict[str, Any]] = [
    {"key": "v", "operator": "like", "value": "x"},
    {"key": "v", "operator": None, "value": "x"},
    {"key": "v", "value": "x"},
    {"operator": "eq", "value": "x"},
    {"key": "v", "operator": "eq"},
    {"key": "v", "operator": "eq", "value": None},
    {"key": "v", "operator": "eq", "value": [1]},
    {"key": "v", "operator": "eq", "value": {"a": 1}},
    {"key": "v", "operator": "in", "value": []},
    {"key": "v", "operator": "in", "value": "x"},
    {"key": "v", "operator": "in", "value": [["x"]]},
    {"key": "v", "operator": "not_in", "value": [None]},
    {"key": "v", "operator": "gt", "value": True},
    {"key": "v", "operator": "gt", "value": [1]},
    {"key": "v", "operator": "contains", "value": 1},
    {"key": "v", "operator": "starts_with"},
    {"key": "v", "operator": "array_contains", "value": ["a"]},
    {"key": "v", "operator": "eq", "value": "x", "case_sensitive": "perhaps"},
    {"key": "v", "operator": "eq", "value": "nul \x00"},
    *(
        {"key": key, "operator": "exists"}
        for key in (
            "",
            " ",
            "a b",
            "a..b",
            ".a",
            "a.",
            "a[0]",
            "a'b",
            'a"b',
            "$",
            "é",
            "a/b",
            "a;--",
            "a\n",
            5,
            None,
        )
    ),
    "key = value",  # type: ignore[list-item]
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault)[:50])
async def test_a_wrong_filter_is_reported_and_finds_nothing(reader: Person, fault: Any) -> None:
    found = await reader.search_context(metadata_filters=[fault])
    assert found.keys() == {"results", "count", "error", "validation_errors"}
    assert (found["results"], found["count"]) == ([], 0)
    assert found["error"] == "Metadata filter validation failed"
    assert len(found["validation_errors"]) == 1
    assert "metadata_filters[0]" in found["validation_errors"][0]


async def test_every_fault_of_the_filters_is_listed(reader: Person) -> None:
    found = await reader.search_context(
        metadata={"a..b": 1, "fine": 2, "also fine": 3},
        metadata_filters=[
            {"key": "a b", "operator": "like", "value": 1},
            {"key": "v", "operator": "eq", "value": 1},
            {"key": "v", "operator": "in", "value": [1, None, [2]]},
        ],
    )
    places = [error.split(":")[0] for error in found["validation_errors"]]
    assert sorted(places) == [
        "metadata.a..b",
        "metadata.also fine",
        "metadata_filters[0].key",
        "metadata_filters[0].operator",
        "metadata_filters[2].value[1]",
        "metadata_filters[2].value[2]",
    ]


async def test_wrong_filters_bring_zeroed_statistics(reader: Person) -> None:
    found = await reader.search_context(metadata={"a b": 1}, explain_query=True)
    assert found["error"] == "Metadata filter validation failed"
    stats = found["stats"]
    assert stats.keys() == {"execution_time_ms", "filters_applied", "rows_returned", "backend", "query_plan"}
    assert (stats["execution_time_ms"], stats["filters_applied"], stats["rows_returned"]) == (0, 0, 0)
