"""Date filters: one set of accepted spellings, everything else an error, and no time zone that matters but UTC."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from contract.helpers import Backdate, ServeWith, read, refusal
from support.world import World

ACCEPTED = (
    "2026-03-14",
    "2026-03-14T10:00:00",
    "2026-03-14T10:00:00Z",
    "2026-03-14T10:00:00+00:00",
    "2026-03-14T12:30:00+02:30",
    "2026-03-14T02:00:00-08:00",
    "2026-03-14T10:00:00.5",
    "2026-03-14T10:00:00.123456Z",
    "2024-02-29",
)
REFUSED = (
    "2026-03-14 10:00",
    "2026-03-14 10:00:00",
    "20260314",
    "20260314T100000Z",
    "2026-W11-6",
    "2026-073",
    "2026-03",
    "2026",
    "2026-3-14",
    "26-03-14",
    "14.03.2026",
    "03/14/2026",
    "2026-03-14T10",
    "2026-03-14T10:00",
    "2026-03-14T10:00Z",
    "2026-03-14T10:00:00+05:30:15",
    "2026-03-14T10:00:00+05:30:15.5",
    "2026-03-14T10:00:00+0200",
    "2026-03-14T10:00:00+02",
    "2026-03-14T10:00:00 +02:00",
    "2026-03-14T10:00:00+24:00",
    "2026-03-14T10:00:00+02:60",
    "2026-03-14T10:00:00 UTC",
    "2026-03-14T10:00:00z",
    "2026-03-14t10:00:00",
    "2026-03-14Z",
    "2026-03-14+02:00",
    "2026-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-03-14T24:00:00",
    "2026-03-14T10:60:00",
    "2026-03-14T10:00:60",
    "2026-03-14T10:00:00,5",
    "2026-03-14T10:00:00.1234567",
    "0000-01-01",
    "10000-01-01",
    "-2026-03-14",
    "+2026-03-14",
    " 2026-03-14",
    "2026-03-14\n",
    "２０２６-03-14",
    "today",
    "now",
    "infinity",
    "1773446400",
    "",
    1773446400,
    True,
    ["2026-03-14"],
    {"date": "2026-03-14"},
)


async def test_the_accepted_spellings_are_accepted_for_both_ends(module_world: World) -> None:
    alice = module_world.as_("alice of the spellings")
    for date in ACCEPTED:
        assert await alice.search(start_date=date) == []
        assert await alice.search(end_date=date) == []


async def test_every_other_spelling_is_an_error_and_never_an_empty_result(module_world: World) -> None:
    alice = module_world.as_("alice of the spellings")
    for date in REFUSED:
        for name in ("start_date", "end_date"):
            words = await refusal(alice.search_context(**{name: date}))
            assert name in words, date
            assert "2025-11-29T10:00:00Z" in words, date


async def test_an_entry_is_found_by_the_created_at_that_a_tool_returned(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    created_at = (await read(alice, entry_id))["created_at"]
    assert await alice.search(start_date=created_at, end_date=created_at) == [entry_id]
    microsecond = timedelta(microseconds=1)
    moment = datetime.fromisoformat(created_at)
    assert await alice.search(start_date=(moment + microsecond).isoformat()) == []
    assert await alice.search(end_date=(moment - microsecond).isoformat()) == []


@pytest.mark.parametrize("offset", (timedelta(hours=5, minutes=30), timedelta(hours=-8), timedelta(hours=14)))
async def test_the_same_moment_is_found_under_every_offset(world: World, offset: timedelta) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    created_at = datetime.fromisoformat((await read(alice, entry_id))["created_at"])
    elsewhere = created_at.astimezone(timezone(offset)).isoformat()
    assert await alice.search(start_date=elsewhere, end_date=elsewhere) == [entry_id]


async def test_a_time_without_a_zone_is_utc(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    backdate(entry_id, "2026-03-14T10:00:00+00:00")
    assert await alice.search(start_date="2026-03-14T10:00:00", end_date="2026-03-14T10:00:00") == [entry_id]
    assert await alice.search(start_date="2026-03-14T10:00:01") == []
    assert await alice.search(end_date="2026-03-14T09:59:59") == []


async def test_a_date_alone_is_the_whole_day(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    moments = (
        "2026-03-13T23:59:59.999999+00:00",
        "2026-03-14T00:00:00+00:00",
        "2026-03-14T23:59:59.999999+00:00",
        "2026-03-15T00:00:00+00:00",
    )
    ids = [await alice.store(moment) for moment in moments]
    for entry_id, moment in zip(ids, moments, strict=True):
        backdate(entry_id, moment)
    assert await alice.search(start_date="2026-03-14", end_date="2026-03-14") == [ids[2], ids[1]]
    assert await alice.search(end_date="2026-03-14") == [ids[2], ids[1], ids[0]]
    assert await alice.search(start_date="2026-03-14") == [ids[3], ids[2], ids[1]]
    assert await alice.search(end_date="2026-03-14T00:00:00") == [ids[1], ids[0]]


async def test_a_range_that_ends_before_it_starts_finds_nothing(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("hello")
    assert await alice.search(start_date="2999-01-01", end_date="2000-01-01") == []


async def test_the_first_and_the_last_year_are_dates_like_others(world: World, backdate: Backdate) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    everything = {"start_date": "0001-01-01", "end_date": "9999-12-31"}
    assert await alice.search(**everything) == [entry_id]
    assert await alice.search(start_date="9999-12-31T23:59:59.999999Z") == []
    assert await alice.search(end_date="0001-01-01") == []
    # offsets that carry a moment out of the calendar
    assert await alice.search(start_date="0001-01-01T00:00:00+14:00") == [entry_id]
    assert await alice.search(end_date="9999-12-31T23:59:59-12:00") == [entry_id]
    for moment in ("0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999999+00:00"):
        backdate(entry_id, moment)
        assert await alice.search(**everything) == [entry_id]
        assert (await read(alice, entry_id))["created_at"] == moment.replace("+00:00", "Z").replace(
            "00:00:00Z", "00:00:00.000000Z"
        )


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, mode: str) -> Iterator[None]:
    """The server's process, its session and its database in another time zone, and dates written another way."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    if mode == "sqlite":
        yield
    else:
        connection = request.getfixturevalue("operator")(mode)
        (name,) = connection.execute("select quote_ident(current_database())").fetchone()
        connection.execute(f"alter database {name} set timezone to 'Asia/Tokyo'")
        connection.execute(f"alter database {name} set datestyle to 'SQL, DMY'")
        yield
        connection.execute(f"alter database {name} reset timezone")
        connection.execute(f"alter database {name} reset datestyle")
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("tokyo")
async def test_no_time_zone_setting_changes_an_answer(serve_with: ServeWith, backdate: Backdate) -> None:
    async with serve_with() as world:
        alice = world.as_("alice")
        entry_id = await alice.store("hello")
        before = datetime.now(UTC)
        entry = await read(alice, entry_id)
        assert abs(datetime.fromisoformat(entry["created_at"]) - before) < timedelta(minutes=1)
        backdate(entry_id, "2026-03-14T23:30:00+00:00")
        assert (await read(alice, entry_id))["created_at"] == "2026-03-14T23:30:00.000000Z"
        assert await alice.search(start_date="2026-03-14", end_date="2026-03-14") == [entry_id]
        assert await alice.search(start_date="2026-03-15") == []
        assert await alice.search(start_date="2026-03-14T23:30:00", end_date="2026-03-14T23:30:00") == [entry_id]
        assert await alice.search(start_date="2026-03-15T08:30:00+09:00") == [entry_id]
        (thread,) = (await alice.list_threads())["threads"]
        assert thread["first_entry"] == thread["last_entry"] == "2026-03-14T23:30:00.000000Z"
        await alice.share_context(
            context_id=entry_id, principal_type="user", principal_id="bob", permission="read"
        )
        (grant,) = (await alice.list_context_grants(context_id=entry_id))["grants"]
        assert abs(datetime.fromisoformat(grant["created_at"]) - before) < timedelta(minutes=1)


async def test_both_ends_take_null_for_not_given(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello")
    assert await alice.search(start_date=None, end_date=None) == [entry_id]
