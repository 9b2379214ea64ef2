"""The reference pages that are generated from the code.

`python -m pgcontext.docs FOLDER` writes `settings.md` and `tools.md` into a folder; a test compares the ones in
`docs/` with what this makes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pgcontext.contracts.schema import plain_response_schema, plain_schema
from pgcontext.settings import Settings
from pgcontext.tools.base import Tool
from pgcontext.tools.registry import ALL_TOOLS

_GROUPS = (
    ("Core", "log_level"),
    ("Transport", "mcp_transport"),
    ("Authentication", "mcp_auth_provider"),
    ("Access", "access_control_default_principal"),
    ("Features", "enable_fts"),
    ("Search", "hybrid_rrf_k"),
    ("Embeddings", "enable_embedding_generation"),
    ("Reranking", "enable_reranking"),
    ("Metadata", "metadata_indexed_fields"),
    ("Navigation", "enable_grep_context"),
    ("PostgreSQL", "postgresql_connection_string"),
)
"""Each group of settings, and the field that it begins with."""


def settings_page() -> str:
    """Every environment variable, its default and its meaning."""
    titles = {first: title for title, first in _GROUPS}
    lines = [
        "# Settings",
        "",
        "pgcontext is configured by environment variables, which may also stand in a file `.env` in the folder it "
        "is started from; the environment wins. A variable that is empty counts as unset. A wrong value stops the "
        "start with exit status 78 and a message that names the variable.",
    ]
    for name, field in Settings.model_fields.items():
        if title := titles.get(name):
            lines += ["", f"## {title}", "", "| variable | default | meaning |", "|---|---|---|"]
        lines.append(f"| `{name.upper()}` | {_default(name, field)} | {_meaning(field)} |")
    return _page(lines)


def _default(name: str, field: FieldInfo) -> str:
    if name == "db_path":
        return "`pgcontext/pgcontext.db` in the user's data folder"
    value = field.default_factory() if field.default_factory else field.default  # type: ignore[call-arg]
    if value in (None, (), PydanticUndefined):
        return "unset"
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, Mapping):
        value = ",".join(key if kind == "string" else f"{key}:{kind}" for key, kind in value.items())
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _meaning(field: FieldInfo) -> str:
    meaning = field.description or ""
    if (choices := _choices(field.annotation)) and len(choices) > 1:
        meaning += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    bounds = {type(bound).__name__: bound for bound in field.metadata}
    if "Ge" in bounds and "Le" in bounds:
        meaning += f" From {bounds['Ge'].ge} to {bounds['Le'].le}."
    return meaning


def _choices(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((_choices(part) for part in get_args(annotation) if get_origin(part) is Literal), ())


def tools_page(tools: Sequence[Tool[Any]] = ALL_TOOLS) -> str:
    """Every tool, its arguments and its result."""
    lines = [
        "# Tools",
        "",
        'A list or an object may also arrive as JSON text, an integer as `"5"`, a boolean as `"false"` or `0`, '
        "and null means that an argument is not given. Text is stored as it is, white space around it removed. "
        "An id is 32 hex digits, the same with the hyphens of a UUID, or its first 8 or more digits if they are "
        "unambiguous.",
        "",
        "Everything that is refused is a tool error whose text says why, one line per fault.",
    ]
    for tool in tools:
        lines += ["", f"## {tool.name}", "", tool.description, "", _traits(tool), ""]
        lines += _arguments(plain_schema(tool.request))
        lines += ["", "Result:", ""]
        lines += _parts(plain_response_schema(tool.response), 0)
    return _page(lines)


def _traits(tool: Tool[Any]) -> str:
    if not tool.writes:
        return "Reads only."
    kind = "Changes or removes what is stored" if tool.is_destructive else "Only adds"
    return f"{kind}{'; a repetition changes nothing more' if tool.is_idempotent else ''}."


def _arguments(schema: Mapping[str, Any]) -> list[str]:
    if not schema["properties"]:
        return ["No arguments."]
    return ["Arguments:", "", *_parts(schema, 0)]


def _parts(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    """One line per property, those of nested objects below it."""
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        need = "" if name in required else ", optional"
        notes = [note for note in (part.get("description"), _bounds(part)) if note]
        yield f"{'  ' * depth}- `{name}` ({_type(part)}{need}){': ' if notes else ''}{'; '.join(notes)}"
        yield from _parts(part.get("items", part), depth + 1)


def _type(part: Mapping[str, Any]) -> str:
    if part.get("type") == "array":
        return f"list of {_type(part['items'])}s"
    return str(part.get("type", "any"))


def _bounds(part: Mapping[str, Any]) -> str:
    notes = []
    if choices := part.get("enum"):
        notes.append(", ".join(f"`{choice}`" for choice in choices))
    if "minimum" in part and "maximum" in part:
        notes.append(f"{part['minimum']} to {part['maximum']}")
    elif "minimum" in part:
        notes.append(f"at least {part['minimum']}")
    for key, unit in (("maxLength", "characters"), ("maxItems", "items"), ("maxProperties", "keys")):
        if key in part:
            notes.append(f"at most {part[key]} {unit}")
    if "default" in part:
        notes.append(f"default `{str(part['default']).lower()}`")
    return "; ".join(notes)


def _page(lines: Sequence[str]) -> str:
    return "\n".join(
        [lines[0], "", "<!-- generated by `python -m pgcontext.docs docs`; do not edit -->", *lines[1:], ""]
    )


PAGES = {"settings.md": settings_page, "tools.md": tools_page}


def main(arguments: Sequence[str]) -> int:
    """Write the pages into the folder given."""
    if len(arguments) != 1:
        print("usage: python -m pgcontext.docs FOLDER", file=sys.stderr)
        return 2
    for name, page in PAGES.items():
        (Path(arguments[0]) / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
