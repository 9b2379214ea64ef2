"""One filter -> one SQL predicate on `entry`, and the indexes that answer it. Twin of `sql/filters/`.

Values are bound as parameters. Paths into the metadata stand in the text, since only so can an index on the
same expression be used; their labels are checked and quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw

from pgcontext.errors import InvalidArgument
from pgcontext.storage.sqlite.access import Value
from pgcontext.storage.sqlite.util import to_json, to_micros
from pgcontext.storage.values import EntryFilter, IndexSyncMode, MetadataCondition

_COMPARISONS = {"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_MEMBERSHIPS = {"in": "in", "not_in": "not in"}
_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_A_TO_Z = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_LAST_CODE_POINT = chr(0x10FFFF)
_SURROGATES = range(0xD800, 0xE000)
_INT64_END = 2**63


@dataclass(frozen=True, slots=True)
class Bindings:
    """The parameters of a predicate, as they come up."""

    values: dict[str, Value] = field(default_factory=dict)

    def add(self, value: Value) -> str:
        """What stands for the value in the SQL text."""
        name = f"filter_{len(self.values)}"
        self.values[name] = value
        return f":{name}"


@dataclass(frozen=True, slots=True)
class Place:
    """SQL expressions for what is at a place in the metadata.

    `value` is the plain value; `folded` is it with A-Z folded to a-z and nothing else. `is_string` and so on
    test its JSON type. The indexes on metadata fields are made of the same expressions. `elements` is the table
    of the elements of an array.
    """

    type: str
    value: str
    elements: str = ""

    @classmethod
    def of(cls, key: str, column: str = "entry.metadata") -> Place:
        """The place of a dotted key. Quoted labels descend into objects only: "0" finds nothing in an array."""
        if not _KEY.fullmatch(key):
            raise _inapplicable()
        path = "$" + "".join(f'."{label}"' for label in key.split("."))
        arguments = f"({column}, '{path}')"
        return cls(f"json_type{arguments}", f"json_extract{arguments}", f"json_each{arguments}")

    @property
    def folded(self) -> str:
        return f"lower({self.value})"

    @property
    def is_string(self) -> str:
        return f"{self.type} = 'text'"

    @property
    def is_number(self) -> str:
        return f"{self.type} in ('integer', 'real')"

    @property
    def is_boolean(self) -> str:
        return f"{self.type} in ('true', 'false')"


def compile_filter(filter: EntryFilter) -> tuple[str, dict[str, Value]]:
    """One predicate on `entry`, and its parameters; raises `InvalidArgument` for a condition without sense."""
    bindings = Bindings()
    tests = []
    if filter.thread_id is not None:
        tests.append(f"entry.thread_id = {bindings.add(filter.thread_id)}")
    if filter.source is not None:
        tests.append(f"entry.source = {bindings.add(filter.source)}")
    if filter.content_type is not None:
        tests.append(f"entry.content_type = {bindings.add(filter.content_type)}")
    if filter.tags:
        tags = f"select value from json_each({bindings.add(to_json(filter.tags))})"
        tests.append(f"entry.id in (select entry_id from entry_tag where tag in ({tags}))")
    if filter.created_from is not None:
        tests.append(f"entry.created_at >= {bindings.add(to_micros(filter.created_from))}")
    if filter.created_to is not None:
        tests.append(f"entry.created_at <= {bindings.add(to_micros(filter.created_to))}")
    tests += [compile_condition(condition, bindings) for condition in filter.metadata]
    return " and ".join(tests) or "true", bindings.values


def compile_condition(condition: MetadataCondition, bindings: Bindings) -> str:
    """The predicate of one metadata condition; the sixteen operators are described in docs/filters.md."""
    place = Place.of(condition.key)
    operator, value, case_sensitive = condition.operator, condition.value, condition.case_sensitive
    match operator:
        case "exists" | "is_not_null":
            return f"{place.type} <> 'null'"
        case "not_exists":
            return f"coalesce({place.type}, 'null') = 'null'"
        case "is_null":
            return f"{place.type} = 'null'"
        case "contains" | "starts_with" | "ends_with":
            return compile_substring_test(place, operator, value, case_sensitive, bindings)
        case "in" | "not_in":
            return compile_scalar_test(place, _MEMBERSHIPS[operator], value, case_sensitive, bindings)
        case "array_contains":
            return compile_containment_test(place, value, case_sensitive, bindings)
        case _ if operator in _COMPARISONS:
            return compile_scalar_test(place, _COMPARISONS[operator], [value], case_sensitive, bindings)
    raise _inapplicable()


def compile_scalar_test(
    place: Place, comparison: str, constants: Sequence[Any], case_sensitive: bool, bindings: Bindings
) -> str:
    """Compare a value with constants of its own JSON type; a value of another type never passes.

    `comparison` takes one constant, or any number where it is `in` or `not in`.
    """
    strings = [constant for constant in constants if isinstance(constant, str)]
    booleans = [constant for constant in constants if isinstance(constant, bool)]
    numbers = [constant for constant in constants if _is_number(constant)]
    if not constants or len(strings) + len(booleans) + len(numbers) < len(constants):
        raise _inapplicable()
    tests = []
    if strings:
        tests.append(_string_test(place, comparison, strings, case_sensitive, bindings))
    if booleans:
        tests.append(f"{place.is_boolean} and {_compare(place.value, comparison, booleans, bindings)}")
    if numbers:
        tests.append(_number_test(place, comparison, numbers, bindings))
    return tests[0] if len(tests) == 1 else "(" + " or ".join(tests) + ")"


def _string_test(
    place: Place, comparison: str, constants: list[str], case_sensitive: bool, bindings: Bindings
) -> str:
    tests = [place.is_string]
    # equality is tested folded all the same, because that is what an index can answer
    if not case_sensitive or comparison in ("=", "in"):
        tests.append(_compare(place.folded, comparison, list(map(fold, constants)), bindings))
    if case_sensitive:
        tests.append(_compare(place.value, comparison, constants, bindings))
    return " and ".join(tests)


def _number_test(place: Place, comparison: str, constants: list[int | float], bindings: Bindings) -> str:
    """Compare exactly, or at double precision where a constant is beyond 64-bit integers."""
    exact = [constant for constant in constants if abs(constant) < _INT64_END]
    large = [_to_double(constant) for constant in constants if abs(constant) >= _INT64_END]
    tests = []
    if exact:
        tests.append(_compare(place.value, comparison, exact, bindings))
    if large:
        tests.append(_compare(f"cast({place.value} as real)", comparison, large, bindings))
    joint = " or " if comparison == "in" else " and "
    return f"{place.is_number} and ({joint.join(tests)})"


def _compare(expression: str, comparison: str, constants: Sequence[Value], bindings: Bindings) -> str:
    operands = ", ".join(map(bindings.add, constants))
    return f"{expression} {comparison} " + (f"({operands})" if comparison in ("in", "not in") else operands)


def compile_substring_test(
    place: Place, operator: str, constant: Any, case_sensitive: bool, bindings: Bindings
) -> str:
    """Test a string for contains, starts_with or ends_with."""
    if not isinstance(constant, str):
        raise _inapplicable()
    if not constant:
        return place.is_string
    text = constant if case_sensitive else fold(constant)
    value = place.value if case_sensitive else place.folded
    match operator:
        case "contains":
            test = f"instr({value}, {bindings.add(text)}) > 0"
        case "ends_with":
            test = f"substr({value}, -{len(text)}) = {bindings.add(text)}"
        case _:
            test = f"{value} >= {bindings.add(text)}"
            if (end := _end_of_prefix(text)) is not None:
                test += f" and {value} < {bindings.add(end)}"
    return f"{place.is_string} and {test}"


def _end_of_prefix(prefix: str) -> str | None:
    """The least string, by code point, after all that begin with the prefix; None when there is none."""
    stem = prefix.rstrip(_LAST_CODE_POINT)
    if not stem:
        return None
    code = ord(stem[-1]) + 1
    return stem[:-1] + chr(_SURROGATES.stop if code in _SURROGATES else code)


def compile_containment_test(place: Place, constant: Any, case_sensitive: bool, bindings: Bindings) -> str:
    """Test an array for an element of the constant's JSON type that is equal to it."""
    element = Place("element.type", "element.value")
    test = compile_scalar_test(element, "=", [constant], case_sensitive, bindings)
    return f"{place.type} = 'array' and exists (select 1 from {place.elements} as element where {test})"


def fold(text: str) -> str:
    """Text with A-Z folded to a-z and nothing else."""
    return text.translate(_A_TO_Z)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_double(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _inapplicable() -> InvalidArgument:
    return InvalidArgument("This metadata condition cannot be applied")


_INDEX_PREFIX = "entry_metadata_"


def sync_metadata_indexes(
    connection: apsw.Connection, fields: Mapping[str, str], mode: IndexSyncMode = "additive"
) -> list[tuple[str, str]]:
    """Bring the indexes on metadata fields in line with {field: type}; (field, action) for each difference.

    additive creates the missing ones, auto also drops the surplus ones, strict and warn only report. Objects
    and arrays have no index on SQLite.
    """
    wanted = {
        f"{_INDEX_PREFIX}{key}_{type}": key for key, type in fields.items() if type not in ("object", "array")
    }
    indexes = connection.execute("select name from sqlite_schema where type = 'index'")
    present = {name for name in (str(row[0]) for row in indexes) if name.startswith(_INDEX_PREFIX)}
    report = []
    for name in sorted(present - wanted.keys()):
        if mode == "auto":
            connection.execute(f'drop index "{name}"')
        if mode != "additive":
            field_name = name.removeprefix(_INDEX_PREFIX).rpartition("_")[0]
            report.append((field_name, "dropped" if mode == "auto" else "surplus"))
    for name in sorted(wanted.keys() - present):
        key = wanted[name]
        if mode in ("additive", "auto"):
            connection.execute(_index_definition(name, key, fields[key]))
        report.append((key, "created" if mode in ("additive", "auto") else "missing"))
    return report


def _index_definition(name: str, key: str, type: str) -> str:
    """An index that answers an equality in the order of the listing, and carries what the rule of access asks."""
    place = Place.of(key, "metadata")
    expression, condition = {
        "string": (place.folded, place.is_string),
        "boolean": (place.value, place.is_boolean),
    }.get(type, (place.value, place.is_number))
    columns = f"{expression}, created_at desc, id desc, visibility, owner"
    return f'create index "{name}" on entry ({columns}) where {condition}'
