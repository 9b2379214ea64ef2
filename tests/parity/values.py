"""Awkward values: what two databases are likeliest to see differently."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

INTEGERS = [
    *(0, 1, -1, 7, 9, 10, 42, 100),
    *(2**31 - 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1),
    *(2**63 - 1, 2**63, 2**63 + 1, -(2**63), -(2**63) - 1, 2**64, 10**18, 10**19, 10**22),
    *(12_345_678_901_234_567_890_123_456_789, 10**300),
]
FLOATS = [
    *(0.0, -0.0, 0.1, 0.5, 1.0, -1.5, 7.0, 9.99, 100.0, 1 / 3),
    *(5e-324, -5e-324, 2.2250738585072014e-308, 1e-7, 1.5e-10),
    *(4503599627370497.5, 9007199254740991.0, 9007199254740992.0, 9007199254740993.0),
    *(9999999999999998.0, 1e16, 12345678901234567.0, 9.2e18, 2.0**63, 1e19, 1e22, 1e23, 1.5e300),
    *(1.7976931348623157e308, -1.7976931348623157e308),
]
STRINGS = [
    *("", " ", "a", "A", "b", "Ab", "aB", "ab", "abc", "z", "Z", "_", "[", "`", "{"),
    *("7", "007", "7.0", "1e3", "true", "null", "NaN", "2024_0717_150625", "9007199254740993"),
    *("50%", "50_", "50x", "100%_\\", "\\", "\\\\", "\\n", "\n", "\t", "%", "a%b", "a_b", "axb"),
    *("'", "''", "O'Neill", '"', '"quoted"', "$$", "$1", ":filter_0", "?", "; drop table entry; --", "{}", "[1]"),
    *("I", "i", "ı", "İ", "i\u0307", "ß", "SS", "ẞ", "straße", "STRASSE", "STRAßE", "\u017f", "\u212a", "k"),
    *("\u00e9", "e\u0301", "\u00c9", "E\u0301", "\u00c5", "\u212b", "\ufb01", "fi", "日本語", "ΑΣ", "ας", "ασ"),
    *("\ud7ff", "\ue000", "\uffff", "\U00010000", "😀", "😀x", "👩\u200d👧", "\U0010ffff", "x\U0010ffff"),
    *("\x01", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", "\u200b", "\ufeff"),
]
KEYS = ["status", "done", "k", "n", "references", "technologies", "a", "b", "A", "x-y", "0", "K"]
ODD_KEYS = ["a.b", "", "ключ", "a b", "'", '"', "$", "\u212a"]

integers = st.sampled_from(INTEGERS) | st.integers(-(2**70), 2**70)
floats = st.sampled_from(FLOATS) | st.floats(allow_nan=False, allow_infinity=False)
strings = st.sampled_from(STRINGS) | st.text("aAbB%_\\'iIİß😀", max_size=4)
scalars: st.SearchStrategy[Any] = strings | integers | floats | st.booleans()
keys = st.sampled_from(KEYS) | st.sampled_from(ODD_KEYS)
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
metadata_documents = st.dictionaries(keys, json_values, max_size=5)


def corpus() -> list[dict[str, Any]]:
    """Metadata documents: every awkward value in several places, and fields of every indexed type."""
    values: list[Any] = [*INTEGERS, *FLOATS, *STRINGS, True, False, None, [], {}, [[]], [None], [[["a"]]]]
    count = -(-len(values) // 4)
    documents: list[dict[str, Any]] = [{}]
    for number in range(count):
        one, two, three, four = (values[(number + count * quarter) % len(values)] for quarter in range(4))
        documents.append(
            {
                "a": one,
                "b": {"a": two, "b": {"a": three, "K": one}, "0": four},
                "A": [one, two, {"a": three}, [four], None],
                "status": four,
                "references": {"A": one, "a": two, "b": {"a": four, "A": three}, "x-y": ["A"]},
                "technologies": [two, three, "Ab"],
                "0": [0, two],
                "x-y": two,
                "k": [number - 7, str(number), f"0x{number:x}"][number % 3],
                "n": (FLOATS + INTEGERS)[number % len(FLOATS + INTEGERS)],
                "done": [True, False, "yes", 1, "0"][number % 5],
            }
        )
    return [
        *documents,
        {"references": "a", "technologies": "a", "status": ["a"], "b": ["a"], "n": "1e3", "k": 2**31 - 1},
        {"references": ["a"], "technologies": {"a": "a"}, "status": {"a": 1}, "b": None, "n": "7"},
        {"references": None, "technologies": None, "status": None, "a": None, "n": None, "k": None, "done": None},
        {"references": {}, "technologies": [], "a": {}, "b": {"b": {}}, "n": "infinity"},
        {"technologies": ["a", "A", 1, 1.0, True, "true", "1", None]},
        {"technologies": [["a"]], "a.b": "a", "references": {"Ticket": "x", "ticket": "y"}},
        {
            "references": {"ticket": "x", "Ticket": "Y", "A": "\u212a"},
            "technologies": ["\u212a", 2**63 + 1, 5e-324],
        },
        {"a": "A", "A": "a", "K": "k", "\u212a": "K"},
    ]
