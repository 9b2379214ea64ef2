"""From the filters of a request to those of the store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pgcontext.contracts.fields import MAX_IDENTIFIER_LENGTH, MAX_LIST, MAX_UNKNOWN, decode_json, to_boolean
from pgcontext.contracts.search import OPERATORS, EntryFilters
from pgcontext.storage.values import EntryFilter, MetadataCondition
from pgcontext.text.characters import check_characters, shown
from pgcontext.text.metadata import normalise_number

_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_PRESENCE = {"exists", "not_exists", "is_null", "is_not_null"}
_MEMBERSHIP = {"in", "not_in"}
_ORDER = {"gt", "gte", "lt", "lte"}
_SUBSTRING = {"contains", "starts_with", "ends_with"}
_MOST_FAULTS = 200
_PARTS = {"key", "operator", "value", "case_sensitive"}


class WrongFilters(Exception):
    """The metadata filters of a request have faults; `faults` lists them all."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def entry_filter(request: EntryFilters) -> EntryFilter:
    """The filter of a search; raises `WrongFilters`."""
    faults: list[str] = []
    conditions: list[MetadataCondition] = []
    for key, value in (request.metadata or {}).items():
        place = f"metadata.{shown(key)}"
        conditions.append(
            MetadataCondition(
                key=_key(key, place, faults),
                operator="eq",
                value=_scalar(value, place, faults),
                case_sensitive=True,
            )
        )
    for index, item in enumerate(request.metadata_filters or []):
        conditions.append(_condition(decode_json(item), f"metadata_filters[{index}]", faults))
    if len(faults) > _MOST_FAULTS:
        faults[_MOST_FAULTS:] = [f"and {len(faults) - _MOST_FAULTS} more faults"]
    if faults:
        raise WrongFilters(faults)
    return EntryFilter(
        thread_id=request.thread_id,
        source=request.source,
        tags=tuple(request.tags or ()),
        content_type=request.content_type,
        created_from=request.start_date,
        created_to=request.end_date,
        metadata=tuple(conditions),
    )


def _condition(item: Any, place: str, faults: list[str]) -> MetadataCondition:
    if not isinstance(item, Mapping):
        faults.append(f"{place}: must be an object with key, operator and value")
        return MetadataCondition("", "")
    unknown = [part for part in item if part not in _PARTS]
    faults += [f"{place}.{shown(part)}: is not a known part of a filter" for part in unknown[:MAX_UNKNOWN]]
    if len(unknown) > MAX_UNKNOWN:
        faults.append(f"{place}: {len(unknown)} of its parts are not known")
    key = _key(item.get("key"), f"{place}.key", faults)
    operator = item.get("operator")
    if operator not in OPERATORS:
        faults.append(f"{place}.operator: must be one of {', '.join(OPERATORS)}")
        operator = ""
    value = None
    if operator and operator not in _PRESENCE:
        value = _value(operator, item.get("value"), f"{place}.value", faults)
    case_sensitive = False
    try:
        case_sensitive = to_boolean(item.get("case_sensitive") or False)
    except ValueError as error:
        faults.append(f"{place}.case_sensitive: {error}")
    return MetadataCondition(key, operator, value, case_sensitive)


def _value(operator: str, value: Any, place: str, faults: list[str]) -> Any:
    if operator in _MEMBERSHIP:
        members = decode_json(value)
        if not isinstance(members, list) or not 0 < len(members) <= MAX_LIST:
            faults.append(f"{place}: must be a list of 1 to {MAX_LIST} strings, numbers or booleans")
            return None
        return [_scalar(member, f"{place}[{index}]", faults) for index, member in enumerate(members)]
    if operator in _SUBSTRING and not isinstance(value, str):
        faults.append(f"{place}: must be a string for {operator}")
        return None
    if operator in _ORDER and (isinstance(value, bool) or not isinstance(value, (int, float, str))):
        faults.append(f"{place}: must be a number or a string for {operator}")
        return None
    return _scalar(value, place, faults)


def _scalar(value: Any, place: str, faults: list[str]) -> Any:
    try:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return check_characters(value)
        if isinstance(value, (int, float)):
            return normalise_number(value)
    except ValueError as error:
        faults.append(f"{place}: {error}")
        return None
    if value is None:
        faults.append(
            f"{place}: must be a string, a number or a boolean; use is_null or not_exists to look for null"
        )
    else:
        faults.append(f"{place}: must be a string, a number or a boolean")
    return None


def _key(key: Any, place: str, faults: list[str]) -> str:
    if isinstance(key, str) and len(key) <= MAX_IDENTIFIER_LENGTH and _KEY.fullmatch(key):
        return key
    faults.append(
        f"{place}: a key is letters, digits, '_' and '-', with '.' between the keys of nested objects, "
        f"at most {MAX_IDENTIFIER_LENGTH} characters"
    )
    return ""
