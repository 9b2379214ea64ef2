"""The types that request parameters are made of.

A client that speaks for a language model often sends a list or an object as JSON text, an integer as "5", a
boolean as "false", and null for "not given". All of that is understood. Text is never reinterpreted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from pgcontext.text.characters import check_characters
from pgcontext.text.dates import ACCEPTED_FORMS, parse_date
from pgcontext.text.ids import parse_id
from pgcontext.text.tags import MAX_TAG_LENGTH, MAX_TAGS, normalise_tags

MAX_IDENTIFIER_LENGTH = 256
MAX_LIST = 100
MAX_OFFSET = 2**31 - 1
MAX_UNKNOWN = 20
"""As many unknown parameters as are named one by one."""

_MAX_ENCODINGS = 3
"""How many times over a list or an object may be encoded as JSON text."""

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}


class Request(BaseModel):
    """The arguments of one call, or one item of a batch."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_absent(cls, arguments: Any) -> Any:
        arguments = decode_json(arguments)
        if isinstance(arguments, dict):
            # `model_fields` costs as much as the validation of a small item
            if len(unknown := arguments.keys() - cls.__pydantic_fields__.keys()) > MAX_UNKNOWN:
                raise ValueError(f"{len(unknown)} of the parameters are not known")
            return {name: value for name, value in arguments.items() if value is not None}
        return arguments


def decode_json(value: Any) -> Any:
    """A list or an object out of JSON text; anything else as it is."""
    decoded = value
    for _ in range(_MAX_ENCODINGS):
        if not isinstance(decoded, str):
            break
        try:
            decoded = json.loads(decoded)
        except (ValueError, RecursionError):
            return value
    return decoded if isinstance(decoded, (list, dict)) else value


def to_integer(value: Any) -> int:
    """An integer out of a JSON number without a fraction, or its decimal text."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise ValueError("must be an integer") from None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be an integer")
    return value


def to_boolean(value: Any) -> bool:
    """A boolean out of itself, of 0 and 1, or of the usual words."""
    if isinstance(value, str):
        value = _BOOLEANS.get(value.strip().lower())
    if value in (0, 1):
        return bool(value)
    raise ValueError("must be a boolean")


def bounded(low: int, high: int) -> Callable[[Any], int]:
    """A validator for an integer from `low` to `high`."""

    def check(value: Any) -> int:
        number = to_integer(value)
        if not low <= number <= high:
            raise ValueError(f"must be between {low} and {high}")
        return number

    return check


def _check_identifier(value: str) -> str:
    check_characters(value)
    if not value.strip():
        raise ValueError("must not be blank")
    if len(value) > MAX_IDENTIFIER_LENGTH:
        raise ValueError(f"must be at most {MAX_IDENTIFIER_LENGTH} characters")
    return value


def _check_id(value: str) -> str:
    parse_id(value)
    return value


def _check_text(value: str) -> str:
    stripped = check_characters(value).strip()
    if not stripped:
        raise ValueError("must not be empty")
    return stripped


def _check_tags(value: list[str]) -> list[str]:
    return list(normalise_tags(value))


def _date_parser(*, is_end: bool) -> Callable[[Any], datetime]:
    def parse(value: Any) -> datetime:
        if not isinstance(value, str):
            raise ValueError(ACCEPTED_FORMS)
        return parse_date(value, is_end=is_end)

    return parse


def _at_least_one(value: Any) -> int:
    number = to_integer(value)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _text_schema(max_length: int | None = None) -> WithJsonSchema:
    bounds = {} if max_length is None else {"maxLength": max_length}
    return WithJsonSchema({"type": "string", "minLength": 1, **bounds})


FromJsonText = BeforeValidator(decode_json)

Flag = Annotated[bool, BeforeValidator(to_boolean)]
PageSize = Annotated[int, Field(ge=1, le=MAX_LIST), BeforeValidator(bounded(1, MAX_LIST))]
Offset = Annotated[int, Field(ge=0), BeforeValidator(bounded(0, MAX_OFFSET))]
Days = Annotated[int, Field(ge=1), BeforeValidator(_at_least_one)]

EntryText = Annotated[str, AfterValidator(_check_text), _text_schema()]
Identifier = Annotated[str, AfterValidator(_check_identifier), _text_schema(MAX_IDENTIFIER_LENGTH)]
Tag = Annotated[str, _text_schema(MAX_TAG_LENGTH)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS), FromJsonText, AfterValidator(_check_tags)]
ContextId = Annotated[str, AfterValidator(_check_id)]
ContextIds = Annotated[list[ContextId], Field(min_length=1, max_length=MAX_LIST), FromJsonText]
ThreadIds = Annotated[list[Identifier], Field(min_length=1, max_length=MAX_LIST), FromJsonText]
StartDate = Annotated[datetime, BeforeValidator(_date_parser(is_end=False)), WithJsonSchema({"type": "string"})]
EndDate = Annotated[datetime, BeforeValidator(_date_parser(is_end=True)), WithJsonSchema({"type": "string"})]
JsonObject = Annotated[dict[str, Any], FromJsonText]
Items = Annotated[list[Any], Field(min_length=1, max_length=MAX_LIST), FromJsonText]

SourceName = Literal["user", "agent"]
VisibilityName = Literal["private", "public"]
ContentTypeName = Literal["text", "multimodal"]
