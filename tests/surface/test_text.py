"""The pure functions on ids, dates, tags, literals and metadata."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pgcontext.text.characters import printable, shown, unstorable_character
from pgcontext.text.dates import ACCEPTED_FORMS, format_seconds, format_timestamp, parse_date
from pgcontext.text.ids import is_prefix, parse_id
from pgcontext.text.literals import is_boolean, is_float, is_integer
from pgcontext.text.metadata import indexed_field_faults, normalise_metadata
from pgcontext.text.tags import normalise_tags

ID = "0190abcdef1234567890abcdef123456"


@pytest.mark.parametrize(
    "spelling",
    [ID, ID.upper(), f"  {ID}\n", "0190abcd-ef12-3456-7890-abcdef123456", "0190ABCD-EF12-3456-7890-ABCDEF123456"],
)
def test_every_spelling_of_an_id_becomes_the_canonical_one(spelling: str) -> None:
    assert parse_id(spelling) == ID
    assert not is_prefix(parse_id(spelling))


@pytest.mark.parametrize("prefix", ["0190abcd", "0190ABCDEF", ID[:31]])
def test_8_to_31_hex_digits_are_a_prefix(prefix: str) -> None:
    assert is_prefix(parse_id(prefix))


@pytest.mark.parametrize(
    "value",
    ["", "0190abc", "0190abcg", ID + "0", "0190abcd-ef12", "0190abcdef12-3456-7890-abcd-ef123456", "٠١٩٠٠١٩٠"],
)
def test_anything_else_is_not_an_id(value: str) -> None:
    with pytest.raises(ValueError, match="must be an entry id"):
        parse_id(value)


@pytest.mark.parametrize(
    "spelling, moment",
    [
        ("2025-11-29", datetime(2025, 11, 29, tzinfo=UTC)),
        ("2025-11-29T10:00:00", datetime(2025, 11, 29, 10, tzinfo=UTC)),
        ("2025-11-29T10:00:00Z", datetime(2025, 11, 29, 10, tzinfo=UTC)),
        ("2025-11-29T10:00:00.5Z", datetime(2025, 11, 29, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("2025-11-29T10:00:00+02:00", datetime(2025, 11, 29, 8, tzinfo=UTC)),
        ("2025-11-29T10:00:00-05:30", datetime(2025, 11, 29, 15, 30, tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:59", datetime.min.replace(tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999-23:59", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_the_accepted_forms_of_dates_are_moments_in_utc(spelling: str, moment: datetime) -> None:
    assert parse_date(spelling, is_end=False) == moment


def test_a_date_alone_ends_with_its_last_microsecond() -> None:
    assert parse_date("2025-11-29", is_end=True) == datetime(2025, 11, 29, 23, 59, 59, 999_999, tzinfo=UTC)
    assert parse_date("9999-12-31", is_end=True) == datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "spelling",
    [
        "2026-03-14 10:00",
        "2026-03-14T10:00",
        "20260314",
        "2026-W11-6",
        "2026-073",
        "2026-03-14T10:00:00+05:30:15",
        "2026-03-14T10:00:00+0530",
        "2026-03-14T10:00:00z",
        "2026-03-14t10:00:00",
        "2026-03-14T10:00:00.1234567",
        "2026-03-14T10:00:00,5",
        "2026-03-14T10:00:00+24:00",
        "2026-02-30",
        "2026-13-01",
        "0000-01-01",
        "2026-03-14T24:00:00",
        "2026-03-14T10:00:60",
        "2026-03-14\n",
        " 2026-03-14",
        "٢٠٢٦-٠٣-١٤",
        "tomorrow",
        "",
    ],
)
def test_every_other_spelling_of_a_date_is_refused_with_the_accepted_forms(spelling: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parse_date(spelling, is_end=False)
    assert str(refusal.value).startswith(ACCEPTED_FORMS)


def test_a_timestamp_that_a_result_shows_is_read_back_exactly() -> None:
    for moment in (datetime(1, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)):
        micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        assert parse_date(format_timestamp(micros), is_end=False) == moment
    assert format_timestamp(1_767_312_000_000_000) == "2026-01-02T00:00:00.000000Z"
    assert format_seconds("2026-01-01T12:00:00.000999Z") == "2026-01-01T12:00:00Z"


def test_tags_are_trimmed_lower_cased_unique_and_in_code_point_order() -> None:
    assert normalise_tags([" B ", "a", "b", "Ä", "😀", "a-b.c:d/e%_'"]) == ("a", "a-b.c:d/e%_'", "b", "ä", "😀")


@pytest.mark.parametrize("tag", ["", "  ", "\u3000", "x" * 129, "İ" * 65, "a\x00", "\ud800"])
def test_blank_long_and_unstorable_tags_are_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="a tag"):
        normalise_tags(["fine", tag])


@pytest.mark.parametrize(
    "text", ["1", "-1", "+1", " 42\t", "0x10", "0o17", "0b101", "-0x80000000", "1_000", "0x_FF", "007"]
)
def test_what_postgresql_reads_as_an_integer_is_one(text: str) -> None:
    assert is_integer(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1.0",
        "1e3",
        "2147483648",
        "-2147483649",
        "0x80000000",
        "0x",
        "_1",
        "1_",
        "1__0",
        "- 1",
        "true",
        "٣",
        "1" * 500,
        "1\u00a0",
    ],
)
def test_what_postgresql_does_not_read_as_an_integer_is_none(text: str) -> None:
    assert not is_integer(text)


@pytest.mark.parametrize(
    "text", ["t", "TRUE", "tr", "f", "fal", "y", "Yes", "n", "no", "on", "of", "OFF", "1", "0", " on "]
)
def test_what_postgresql_reads_as_a_boolean_is_one(text: str) -> None:
    assert is_boolean(text)


@pytest.mark.parametrize("text", ["", "o", "2", "10", "1.0", "truee", "ja", "null"])
def test_what_postgresql_does_not_read_as_a_boolean_is_none(text: str) -> None:
    assert not is_boolean(text)


@pytest.mark.parametrize(
    "text",
    ["1", "1.", ".5", "-1e-3", "+1E5", " 1 ", "NaN", "inf", "-Infinity", "0x1.8p3", "1e308", "0e-999", "5e-324"],
)
def test_what_postgresql_reads_as_a_float_is_one(text: str) -> None:
    assert is_float(text)


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "1e400", "-1e400", "1e-400", "1_0", "true", "++1", "0x", "1,5", "0x1p99999"]
)
def test_what_postgresql_does_not_read_as_a_float_is_none(text: str) -> None:
    assert not is_float(text)


def test_numbers_are_written_alike_whatever_the_client_wrote() -> None:
    numbers = normalise_metadata(
        {"a": 1e16, "b": 1e15, "c": -0.0, "d": 10**20, "e": [1.5, True, None, {"f": 1e300}]}
    )
    assert repr(numbers["a"]) == "10000000000000000"
    assert repr(numbers["b"]) == "1000000000000000.0"
    assert repr(numbers["c"]) == "0.0"
    assert numbers["d"] == 10**20
    assert numbers["e"][:3] == [1.5, True, None]
    assert isinstance(numbers["e"][3]["f"], int)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400])
def test_numbers_without_a_double_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        normalise_metadata({"a": [{"b": value}]})


@pytest.mark.parametrize("metadata", [{"a\x00": 1}, {"a": "\x00"}, {"a": ["\ud800"]}, {"a": {"\udfff": 1}}])
def test_unstorable_characters_are_refused_anywhere_in_metadata(metadata: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="contains a"):
        normalise_metadata(metadata)


def test_metadata_may_nest_32_levels_and_no_more() -> None:
    def nested(levels: int) -> dict[str, object]:
        return {"a": nested(levels - 1)} if levels > 1 else {}

    assert normalise_metadata(nested(32)) == nested(32)
    with pytest.raises(ValueError, match="32 levels"):
        normalise_metadata(nested(33))


def test_values_of_indexed_fields_are_measured_and_typed() -> None:
    fields = {"s": "string", "n": "integer", "b": "boolean", "f": "float", "o": "object", "a.b": "integer"}
    fine = {
        "s": "x" * 512,
        "n": "0x10",
        "b": 1,
        "f": "1e5",
        "o": {"k": "x" * 500},
        "a": {"b": None},
        "other": "x" * 10_000,
    }
    assert indexed_field_faults(fine, fields) == []
    assert indexed_field_faults({"n": None}, fields) == []
    faulty = {"s": "x" * 513, "n": 1.0, "b": "maybe", "f": [], "o": {"k": "x" * 510}, "a": {"b": "x"}}
    faults = indexed_field_faults(faulty, fields)
    assert len(faults) == 6
    assert faults[0] == "the value of the indexed field 's' exceeds 512 characters"
    assert faults[1] == "the value of the indexed field 'n' is not a valid integer"


def test_only_nul_and_lone_surrogates_cannot_be_stored() -> None:
    assert unstorable_character("é😀\x01\u2028") is None
    assert "NUL" in str(unstorable_character("a\x00"))
    assert "surrogate" in str(unstorable_character("a\ud83d"))


def test_names_are_quoted_short_and_printable() -> None:
    assert shown("\ud800" * 200) == "?" * 100 + "..."
    assert printable("é😀") == "é😀"
