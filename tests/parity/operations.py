"""Random calls: who calls which tool with which arguments, right ones and wrong ones."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from hypothesis import strategies as st

from parity.twins import CreatedAt, EntryId
from parity.values import STRINGS, floats, integers, json_values, metadata_documents, scalars, strings
from pgcontext.contracts.search import OPERATORS
from pgcontext.principal import Principal

PEOPLE = (
    Principal("alice", ("editors", "Gruppe ß%_'"), ("publisher",)),
    Principal("bob", ("editors",)),
    Principal("Alice"),
    Principal('dave\'s \\ "quoted" 😀', ("Gruppe ß%_'", ""), ("publisher", "{other}")),
    Principal("nobody"),
)
GRANTEES = [
    *(("user", person.id) for person in PEOPLE),
    *(("group", name) for name in ("editors", "Editors", "Gruppe ß%_'", "alice", "{a,b}")),
]
FILTER_KEYS = [
    *("status", "done", "k", "n", "a", "b", "A", "0", "K", "x-y", "technologies", "references"),
    *("references.A", "references.a", "references.x-y", "references.Ticket", "references.b.a", "references.b.A"),
    *("b.a", "b.b.a", "b.b.K", "b.0", "A.0", "0.0", "a.b", "nothing", "status.x"),
]
PATTERNS = [
    *(
        "ok",
        "O",
        "k\n",
        "ß",
        "ẞ",
        "\u212a",
        "xxxx",
        "E\u0301",
        "😀",
        "line\r",
        "\r\n",
        "ne\nli",
        "'; --",
        "# A",
        "absent",
    ),
    *(
        "^",
        "$",
        ".",
        "^line$",
        "(a|b)?",
        r"\r",
        r"\n",
        r"\s+",
        "(?i)K",
        "o(?=k)",
        "[x😀]{3,}",
        "nothing|fine",
        "(",
        "[[:alpha:]]",
    ),
]
TEXTS = ["ok", "OK", " ok\n", "fine", "ß", "é", "e\u0301", "x" * 300, "😀" * 301, "line\r\nline\rline", "'; --"]
TEXTS += ["# A\r\n\r\nk\r## \u212a B\n\n# A\n==\nx", "---\na\n---\n# A\n```\n# no\n```\nA\n---"]
THREADS = ["t", "T", "t ", "50%_\\", "Straße 'ı' 🧵", "a/b:c.d-e"]
TAGS = [
    "a",
    "A ",
    "b",
    "Ünï",
    "ẞ",
    "İ",
    "i\u0307",
    "ΑΣ",
    "x,y",
    "'\"\\{}",
    "😀",
    "%",
    "_",
    "null",
    "\u00e9",
    "e\u0301",
]
MOMENTS = [
    *(
        "2026-03-14T10:00:00Z",
        "2024-02-29T23:59:59.123456789+00:00",
        "2023-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
    ),
    *("2026-04-31T10:00:00Z", "2026-03-14T24:00:00Z", "2026-03-14T10:00:00.Z", "2026-03-14T10:00:00", "now", ""),
]
IMAGES = [
    {"data": "AAECAw==", "mime_type": "image/png"},
    {"data": "AAECAx==", "mime_type": "image/png"},
    {"data": "AAECAw==", "mime_type": "image/png", "metadata": ""},
    {"data": "/+8=", "mime_type": "image/svg+xml", "metadata": '{"a": "ß\\\\"}'},
]


@dataclass(frozen=True, slots=True)
class Call:
    """One call; without a caller it is made by the owner of the first entry that it names."""

    caller: Principal | None
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Again:
    """A call like an earlier one of `earlier_tool`, counted back from the latest, with some arguments changed."""

    tool: str
    earlier_tool: str
    number: int
    changes: dict[str, Any]


def _varied(text: str, variant: int, start: int, end: int) -> str:
    """A string like another: in another case, or a part of it."""
    return (text, text.upper(), text.lower(), text.swapcase(), text[start:end], text + "a")[variant]


def _near(number: int | float, variant: int) -> int | float:
    """A number like another: the next one, or how it looks at double precision."""
    try:
        return (number, float(number), number + 1, number - 1, int(number), -number)[variant]
    except OverflowError:
        return number


constant_strings = strings | st.builds(_varied, strings, st.integers(0, 5), st.integers(0, 2), st.integers(1, 4))
numbers = st.builds(_near, integers | floats, st.integers(0, 5)).filter(lambda number: abs(number) < 1.797e308)
constants: st.SearchStrategy[Any] = constant_strings | numbers | st.booleans()


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, Any]:
    """A metadata condition without a fault."""
    operator = draw(st.sampled_from(OPERATORS))
    condition: dict[str, Any] = {"key": draw(st.sampled_from(FILTER_KEYS)), "operator": operator}
    match operator:
        case "exists" | "not_exists" | "is_null" | "is_not_null":
            return condition
        case "in" | "not_in":
            condition["value"] = draw(st.lists(constants, min_size=1, max_size=4))
        case "contains" | "starts_with" | "ends_with":
            condition["value"] = draw(constant_strings)
        case "gt" | "gte" | "lt" | "lte":
            condition["value"] = draw(constant_strings | numbers)
        case _:
            condition["value"] = draw(constants)
    if draw(st.booleans()):
        condition["case_sensitive"] = True
    return condition


wrong_conditions = st.sampled_from(
    [
        {"key": "a b", "operator": "eq", "value": 1},
        {"key": "a", "operator": "like", "value": "x"},
        {"key": "a", "operator": "in", "value": []},
        {"key": "a", "operator": "eq", "value": None},
        {"key": "a..b", "operator": "contains", "value": 1, "case_sensitive": "perhaps"},
    ]
)
entry_ids = st.builds(
    EntryId,
    st.integers(0, 7),
    st.sampled_from(["whole"] * 8 + ["hyphens", "prefix", "short", "unknown"]),
)
# most calls meet at one place
threads = st.sampled_from(["t"] * 6 + THREADS)
sources = st.sampled_from(["user", "user", "user", "agent"])
texts = st.sampled_from(["ok"] * 6 + TEXTS)
tags = st.lists(st.sampled_from(TAGS), max_size=4)
images = st.lists(st.sampled_from(IMAGES), max_size=3)
visibilities = st.sampled_from(["private", "public"])


def _weighted(strategies: dict[st.SearchStrategy[Any], int]) -> st.SearchStrategy[Any]:
    """One of the strategies; `one_of` would ignore how often each is named."""
    choices = [strategy for strategy, weight in strategies.items() for _ in range(weight)]
    return st.integers(0, len(choices) - 1).flatmap(lambda number: choices[number])


def _some_of(options: dict[str, st.SearchStrategy[Any]], most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Values for a few of the options, at least one."""
    return st.lists(st.sampled_from(sorted(options)), min_size=1, max_size=most, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: options[name] for name in names})
    )


def _with(
    required: dict[str, st.SearchStrategy[Any]], options: dict[str, st.SearchStrategy[Any]], most: int
) -> st.SearchStrategy[dict[str, Any]]:
    """What is required, and values for a few of the options or none."""
    chosen = st.just({}) | _some_of(options, most)
    return st.builds(lambda one, two: one | two, st.fixed_dictionaries(required), chosen)


# keys that meet again and again, or anything
metadata = (
    st.dictionaries(st.sampled_from(["a", "b", "status", "references"]), scalars, max_size=3) | metadata_documents
)
parts = {"tags": tags, "images": images, "metadata": metadata}
_place = {"thread_id": threads, "source": sources, "text": texts}
_options = {**parts, "visibility": visibilities, "deduplicate": st.booleans()}
new_entries = _with({**_place, "metadata": metadata}, _options, 2) | _with(_place, _options, 3)
patches = st.dictionaries(
    st.sampled_from(["a", "b", "status", "references", "A"]),
    st.none() | scalars | metadata_documents | st.dictionaries(st.sampled_from("aAb"), st.none() | scalars),
    max_size=3,
)
_changed_parts = {**parts, "text": texts, "visibility": visibilities}
changes = st.one_of(
    st.builds(lambda entry_id, some: {"context_id": entry_id, **some}, entry_ids, _some_of(_changed_parts, 3)),
    _with({"context_id": entry_ids, "metadata_patch": patches}, {"text": texts, "tags": tags}, 2),
)
dates = st.builds(CreatedAt, st.integers(0, 7)) | st.sampled_from(
    ["0001-01-01", "9999-12-31", "2026-03-14T10:00:00+05:30", "9999-12-31T23:59:59-12:00", "2000-02-29"]
)
filters: dict[str, st.SearchStrategy[Any]] = {
    "thread_id": threads,
    "source": sources,
    "tags": tags,
    "content_type": st.sampled_from(["text", "multimodal"]),
    "start_date": dates,
    "end_date": dates,
    "metadata": st.dictionaries(st.sampled_from(FILTER_KEYS), constants, max_size=2),
    "metadata_filters": st.lists(st.one_of(conditions(), conditions(), wrong_conditions), max_size=3),
    "limit": st.integers(1, 5),
    "offset": st.integers(0, 3),
    "include_images": st.booleans(),
    "explain_query": st.booleans(),
}
greps = _with(
    {"pattern": st.sampled_from(PATTERNS)},
    {
        "is_regex": st.booleans(),
        "case_sensitive": st.booleans(),
        "output_mode": st.sampled_from(["content", "count", "files_with_matches"]),
        "context_lines": st.integers(0, 3),
        "max_matches": st.integers(1, 6),
        "max_entries_scanned": st.integers(1, 4),
        **{name: filters[name] for name in ("thread_id", "source", "tags", "content_type", "metadata_filters")},
    },
    4,
)
_places = st.integers(-2, 40)
ranges = st.builds(
    lambda entry_id, part: {"context_id": entry_id, **part},
    entry_ids,
    st.one_of(
        st.fixed_dictionaries({}, optional={"start_char": _places, "end_char": _places}),
        st.fixed_dictionaries({}, optional={"start_line": _places, "end_line": _places}),
        st.fixed_dictionaries({"node_id": st.sampled_from(["root", "a", "a-2", "a/k-b", "a/gone", "gone"])}),
    ),
)
grants = st.builds(
    lambda entry_id, grantee, permission: {
        "context_id": entry_id,
        "principal_type": grantee[0],
        "principal_id": grantee[1],
        "permission": permission,
    },
    entry_ids,
    st.sampled_from(GRANTEES),
    st.sampled_from(["read", "write"]),
)
# sha256 of the texts "ok" and "fine", and another digest
DIGESTS = [sha256(text).hexdigest() for text in (b"ok", b"fine", b"")]
SOURCE_IDS = [text for text in STRINGS if text]
source_ids = st.sampled_from(["a", "b", "\uffff", "😀"]) | st.sampled_from(SOURCE_IDS)
digests = st.sampled_from([*DIGESTS, DIGESTS[0].upper()])
_block = {"scope": threads, "source_id": source_ids, "meta_digest": digests, "synced_at": st.just(MOMENTS[0])}
_wrong_part = st.sampled_from(sorted(_block)).flatmap(
    lambda name: st.fixed_dictionaries({name: st.sampled_from(MOMENTS) | scalars | st.none() | json_values})
)
_odd_part = _wrong_part | st.dictionaries(st.sampled_from(["scope", "extra", ""]), scalars, max_size=1)
blocks = st.builds(
    lambda whole, odd: whole | odd, st.fixed_dictionaries(_block), _weighted({st.just({}): 4, _odd_part: 1})
)
_own_scope = st.builds(lambda block, thread: (thread, block | {"scope": thread}), blocks, threads)
new_documents = st.builds(
    lambda place, text, visibility: {
        "thread_id": place[0],
        "source": "agent",
        "text": text,
        "deduplicate": False,
        "visibility": visibility,
        "metadata": {"ingest": place[1]},
    },
    _weighted({_own_scope: 3, st.tuples(threads, blocks): 1}),
    texts,
    visibilities,
)
manifests = st.lists(
    st.fixed_dictionaries({"source_id": source_ids, "text_digest": digests, "meta_digest": digests})
    | st.fixed_dictionaries({"source_id": source_ids, "keep": st.just(True)}),
    max_size=6,
    unique_by=lambda item: item["source_id"],
)
plans = _with(
    {"thread_id": threads, "manifest": manifests, "allow_empty_manifest": st.just(True)},
    {"source_id_after": source_ids, "source_id_through": source_ids},
    2,
)
states = _with({"thread_id": threads}, {"limit": st.integers(1, 3)}, 1)
wrong_arguments = st.sampled_from(
    [
        ("plan_context_sync", {"thread_id": "t", "manifest": []}),
        ("plan_context_sync", {"thread_id": "t", "manifest": [{"source_id": "a", "text_digest": "a"}]}),
        ("list_ingest_state", {"thread_id": "t", "cursor": "AAAA"}),
        ("list_ingest_state", {"thread_id": "t", "limit": 201}),
        ("store_context", {"thread_id": " ", "source": "user", "text": "x"}),
        ("store_context", {"thread_id": "t", "source": "robot", "text": " "}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "x", "tags": [" "]}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "x", "metadata": {"status": "y" * 513}}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "a\x00b"}),
        ("store_context", {"thread_id": "t" * 257, "source": "user", "text": "x"}),
        ("search_context", {"limit": 101}),
        ("search_context", {"offset": -1}),
        ("search_context", {"start_date": "2026-W11-6", "end_date": "20260314"}),
        ("search_context", {"start_date": "2026-03-14T10:00:00+05:30:15"}),
        ("get_context_by_ids", {"context_ids": ["0190abc", "xyz"]}),
        ("update_context", {"context_id": "01900000abcd70008000000000000001"}),
        ("delete_context", {}),
        ("delete_context_batch", {"source": "user"}),
        ("delete_context_batch", {"older_than_days": 0, "source": "user"}),
    ]
)


people = st.sampled_from([*PEOPLE[:3] * 3, *PEOPLE])
owner_or_other = _weighted({st.none(): 3, people: 2})


def _calls(
    tool: str, arguments: st.SearchStrategy[dict[str, Any]], callers: st.SearchStrategy[Any] = people
) -> st.SearchStrategy[Call]:
    return st.builds(Call, callers, st.just(tool), arguments)


def _again(tool: str, earlier_tool: str, changes: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Again]:
    return st.builds(Again, st.just(tool), st.just(earlier_tool), st.integers(0, 3), changes)


_id_lists = st.lists(entry_ids, min_size=1, max_size=4)
_atomic = {"atomic": st.booleans()}
_deletions = st.one_of(
    st.fixed_dictionaries({"context_ids": _id_lists}),
    _with(
        {"context_ids": _id_lists}, {"thread_ids": st.lists(threads, min_size=1, max_size=2), "source": sources}, 2
    ),
    st.fixed_dictionaries({"thread_ids": st.lists(threads, min_size=1, max_size=2), "source": sources}),
    st.fixed_dictionaries({"source": sources, "older_than_days": st.sampled_from([1, 30, 700_001, 10**9])}),
)
_batch_items = _weighted({new_entries: 9, st.just({"text": "alone"}): 1})
_permissions = st.fixed_dictionaries({}, optional={"permission": st.sampled_from(["read", "write"])})
_stores: dict[st.SearchStrategy[Any], int] = {
    _calls("store_context", new_entries): 3,
    _again("store_context", "store_context", _some_of(parts, 2)): 2,
    _calls("store_context", new_documents): 2,
    _again("store_context", "store_context", st.just({"deduplicate": False})): 1,
    _again("store_context", "store_context", st.fixed_dictionaries({"metadata": metadata})): 1,
    _calls(
        "store_context_batch", _with({"entries": st.lists(_batch_items, min_size=1, max_size=4)}, _atomic, 1)
    ): 2,
}
_reads = {
    _calls("search_context", _with({}, filters, 3)): 4,
    _calls("get_context_by_ids", _with({"context_ids": _id_lists}, {"include_images": st.booleans()}, 1)): 1,
    _calls("grep_context", greps): 4,
    _calls("navigate_context", _with({"context_id": entry_ids}, {"max_depth": st.integers(1, 2)}, 1)): 1,
    _calls("read_context_range", ranges): 2,
    _calls("list_threads", _with({}, {"limit": st.integers(1, 3), "offset": st.integers(0, 2)}, 2)): 1,
    _calls("plan_context_sync", plans): 2,
    _calls("list_ingest_state", states): 1,
    _calls("list_context_grants", st.fixed_dictionaries({"context_id": entry_ids}), owner_or_other): 1,
}
_writes = {
    _calls("update_context", changes, owner_or_other): 4,
    _calls(
        "update_context_batch",
        _with({"updates": st.lists(changes, min_size=1, max_size=3)}, _atomic, 1),
        owner_or_other,
    ): 2,
    _calls("share_context", grants, owner_or_other): 3,
    _again("share_context", "share_context", _permissions): 1,
    _calls("unshare_context", grants, owner_or_other): 1,
    _again("unshare_context", "share_context", _permissions): 2,
    _calls("delete_context", st.fixed_dictionaries({"context_ids": _id_lists}), owner_or_other): 1,
    _calls("delete_context", st.fixed_dictionaries({"thread_id": threads})): 1,
    _calls("delete_context_batch", _deletions, owner_or_other): 2,
    st.builds(lambda caller, wrong: Call(caller, *wrong), people, wrong_arguments): 1,
}


def _spelt_out(calls: list[Call | Again]) -> list[Call]:
    """The calls with every repetition as the call that it stands for."""
    spelt: list[Call] = []
    for call in calls:
        if isinstance(call, Call):
            spelt.append(call)
        elif earlier := [other for other in spelt if other.tool == call.earlier_tool]:
            repeated = earlier[-1 - call.number % len(earlier)]
            spelt.append(Call(repeated.caller, call.tool, repeated.arguments | call.changes))
    return spelt


call_sequences = st.builds(
    lambda first, then: _spelt_out([*first, *then]),
    st.lists(_weighted(_stores), min_size=2, max_size=6),
    st.lists(_weighted(_stores | _writes | _reads), min_size=25, max_size=40),
)


def inventory() -> list[Call]:
    """Calls that show everything that everybody may see."""
    return [
        Call(person, tool, arguments)
        for person in PEOPLE
        for tool, arguments in (
            ("search_context", {"limit": 100, "include_images": True}),
            ("list_threads", {}),
            ("plan_context_sync", {"thread_id": "t", "manifest": [], "allow_empty_manifest": True}),
            ("list_ingest_state", {"thread_id": "t"}),
            ("get_statistics", {}),
        )
    ]
