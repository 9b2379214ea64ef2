"""What the values of environment variables may be, and how they are read."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from pgcontext.principal import check_name
from pgcontext.text.analysis import LANGUAGES

FIELD_TYPES = ("string", "integer", "boolean", "float", "object", "array")
_FIELD_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", re.ASCII)
_SCHEMA_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}", re.ASCII)


def _split(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _to_upper_case(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _to_lower_case(value: Any) -> Any:
    """The word for a switch, which may also be a boolean."""
    return str(value).lower() if isinstance(value, (str, bool)) else value


def _parse_indexed_fields(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    fields: dict[str, str] = {}
    for part in _split(value):
        name, _, kind = part.partition(":")
        if not _FIELD_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not a field name (letters, digits, '_', '-', and '.' between keys)")
        if (kind or "string") not in FIELD_TYPES:
            raise ValueError(f"'{kind}' is not a type; the types are {', '.join(FIELD_TYPES)}")
        if name in fields:
            raise ValueError(f"'{name}' is listed twice")
        fields[name] = kind or "string"
    return fields


def _check_principal(value: Any) -> Any:
    return check_name(value) if isinstance(value, str) else value


def _check_schema(value: Any) -> Any:
    if not isinstance(value, str) or not _SCHEMA_NAME.fullmatch(value):
        raise ValueError(
            "must be 1 to 63 lower-case letters, digits and '_', beginning neither with a digit nor with 'pg_'"
        )
    return value


def _check_networks(value: Any) -> Any:
    networks = _split(value)
    for network in networks if isinstance(networks, tuple) else ():
        try:
            ip_network(network)
        except ValueError:
            raise ValueError(f"'{network}' is not an IP address or network") from None
    return networks


def _check_public_url(value: Any) -> Any:
    if isinstance(value, str):
        parts = urlsplit(value)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.query
            or parts.fragment
            or parts.username
        ):
            raise ValueError("must be an http or https address, without user, query and fragment")
        return value.rstrip("/")
    return value


def _check_language(value: Any) -> Any:
    if value not in LANGUAGES:
        raise ValueError(f"must be one of {', '.join(LANGUAGES)}")
    return value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Networks = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_check_networks)]
PublicUrl = Annotated[str, BeforeValidator(_check_public_url)]
PrincipalId = Annotated[str, BeforeValidator(_check_principal)]
Megabytes = Annotated[int, Field(ge=1, le=1024)]
Feature = Annotated[Literal["auto", "true", "false"], BeforeValidator(_to_lower_case)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(_to_upper_case)]
Language = Annotated[str, BeforeValidator(_check_language)]
IndexedFields = Annotated[dict[str, str], NoDecode, BeforeValidator(_parse_indexed_fields)]
SchemaName = Annotated[str, BeforeValidator(_check_schema)]
