"""Metadata filters: what is passed on, and how faults are listed."""

from __future__ import annotations

from typing import Any

import pytest

from pgcontext.contracts.search import OPERATORS, SearchContext
from pgcontext.storage.values import MetadataCondition
from pgcontext.tools.filtering import WrongFilters, entry_filter
from support.world import Person


def conditions(**arguments: Any) -> tuple[MetadataCondition, ...]:
    return entry_filter(SearchContext.model_validate(arguments)).metadata


def faults(**arguments: Any) -> list[str]:
    with pytest.raises(WrongFilters) as wrong:
        conditions(**arguments)
    return wrong.value.faults


def test_simple_pairs_are_exact_equalities() -> None:
    assert conditions(metadata={"a.b": "X", "n": 5, "t": True}) == (
        MetadataCondition("a.b", "eq", "X", case_sensitive=True),
        MetadataCondition("n", "eq", 5, case_sensitive=True),
        MetadataCondition("t", "eq", True, case_sensitive=True),
    )


def test_every_operator_takes_its_kind_of_value() -> None:
    values: dict[str, Any] = dict.fromkeys(OPERATORS, "x")
    values |= {"in": ["x", 1, True], "not_in": '["x"]', "gt": 1.5, "array_contains": False}
    values |= dict.fromkeys(("exists", "not_exists", "is_null", "is_not_null"))
    given = [{"key": "k", "operator": name, "value": value} for name, value in values.items()]
    parsed = {condition.operator: condition.value for condition in conditions(metadata_filters=given)}
    assert parsed == {**values, "not_in": ["x"]}


def test_operators_of_presence_ignore_a_value() -> None:
    assert (
        conditions(metadata_filters=[{"key": "k", "operator": "exists", "value": {"any": "thing"}}])[0].value
        is None
    )


def test_case_sensitivity_is_off_unless_asked_for() -> None:
    given = [
        {"key": "k", "operator": "eq", "value": "x"},
        {"key": "k", "operator": "eq", "value": "x", "case_sensitive": "true"},
    ]
    assert [condition.case_sensitive for condition in conditions(metadata_filters=given)] == [False, True]


def test_types_are_never_converted() -> None:
    given = [{"key": "k", "operator": "eq", "value": value} for value in ("007", 7, 7.0, True, "true")]
    assert [repr(condition.value) for condition in conditions(metadata_filters=given)] == [
        "'007'",
        "7",
        "7.0",
        "True",
        "'true'",
    ]


@pytest.mark.parametrize(
    "key", ["", ".", "a.", ".a", "a..b", "a b", "é", "a[0]", "a'b", "x" * 257, "a\n", 5, None]
)
def test_a_key_is_ascii_letters_digits_and_three_signs(key: Any) -> None:
    [fault] = faults(metadata_filters=[{"key": key, "operator": "exists"}])
    assert fault.startswith("metadata_filters[0].key: a key is letters, digits")


@pytest.mark.parametrize(
    "condition, place",
    [
        ({"operator": "like", "value": "x"}, "operator"),
        ({"operator": ["eq"], "value": "x"}, "operator"),
        ({"value": "x"}, "operator"),
        ({"operator": "eq"}, "value"),
        ({"operator": "eq", "value": None}, "value"),
        ({"operator": "eq", "value": [1]}, "value"),
        ({"operator": "eq", "value": {"a": 1}}, "value"),
        ({"operator": "eq", "value": float("nan")}, "value"),
        ({"operator": "eq", "value": 10**400}, "value"),
        ({"operator": "eq", "value": "\x00"}, "value"),
        ({"operator": "eq", "value": "\ud800"}, "value"),
        ({"operator": "gt", "value": True}, "value"),
        ({"operator": "lte", "value": None}, "value"),
        ({"operator": "contains", "value": 5}, "value"),
        ({"operator": "in", "value": "x"}, "value"),
        ({"operator": "in", "value": []}, "value"),
        ({"operator": "not_in", "value": ["x"] * 101}, "value"),
        ({"operator": "in", "value": ["x", None]}, "value[1]"),
        ({"operator": "array_contains", "value": ["x"]}, "value"),
        ({"operator": "eq", "value": "x", "case_sensitive": "maybe"}, "case_sensitive"),
        ({"operator": "eq", "value": "x", "negate": True}, "negate"),
    ],
)
def test_each_fault_names_its_place(condition: dict[str, Any], place: str) -> None:
    [fault] = faults(metadata_filters=[{"key": "fine", **condition}])
    assert fault.startswith(f"metadata_filters[0].{place}: ")


def test_simple_pairs_take_no_null_and_no_structures() -> None:
    found = faults(metadata={"a": None, "b": [1], "c d": 1})
    assert [fault.partition(":")[0] for fault in found] == ["metadata.a", "metadata.b", "metadata.c d"]


async def test_wrong_filters_are_a_result_that_lists_every_fault(alice: Person) -> None:
    await alice.store("x")
    result = await alice.search_context(
        metadata={"a b": 1}, metadata_filters=[5, {"key": "k", "operator": "almost", "value": 1}]
    )
    assert (result["results"], result["count"]) == ([], 0)
    assert result["error"] == "Metadata filter validation failed"
    assert len(result["validation_errors"]) == 3
    assert "stats" not in result


async def test_wrong_filters_have_zeroed_statistics_when_asked_for(alice: Person) -> None:
    result = await alice.search_context(metadata={"": 1}, explain_query=True)
    assert result["stats"] == {
        "execution_time_ms": 0.0,
        "filters_applied": 0,
        "rows_returned": 0,
        "backend": "sqlite",
        "query_plan": "",
    }
