"""Several processes and several callers on one file: bounded waits, no lost and no doubled writes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import apsw
import pytest

from pgcontext.errors import Busy, StartRefused
from pgcontext.principal import Principal
from pgcontext.storage.values import EntryFilter, NewEntry

ALICE = Principal("alice")
EVERYTHING = EntryFilter()

WRITER = """
import asyncio, sys
from pgcontext.principal import Principal
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.values import AccessPolicy, NewEntry

async def main(path, name, count):
    store = SqliteStore(path, AccessPolicy(), indexed_fields={"status": "string"})
    await store.open()
    for number in range(int(count)):
        await store.store_entries(Principal("alice"), [NewEntry("own", "user", f"{name} {number}")], True)
        await store.store_entries(Principal("alice"), [NewEntry("common", "user", "the same words")], True)
        print(number, flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def start_writer(path: Path, name: str, count: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WRITER, str(path), name, str(count)),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
    )


async def count(store, **parts):
    return len(await store.search_entries(ALICE, EntryFilter(**parts), 100_000, 0, 300))


async def test_processes_that_start_together_on_an_empty_file_all_write_and_repeat_nothing(tmp_path, open_store):
    path = tmp_path / "folder" / "entries.db"
    writers = [await start_writer(path, f"writer {n}", 20) for n in range(5)]
    await asyncio.gather(*(writer.communicate() for writer in writers))
    assert [writer.returncode for writer in writers] == [0] * 5
    store = await open_store(path=path)
    assert await count(store, thread_id="own") == 100
    # identical stores of all five are one entry
    assert await count(store, thread_id="common") == 1


async def test_two_hundred_writes_of_four_processes_wait_for_a_long_writer(tmp_path, open_store):
    path = tmp_path / "entries.db"
    store = await open_store(path=path)
    writers = [await start_writer(path, f"writer {n}", 25) for n in range(4)]

    def write_long(connection):
        connection.execute("update entry set version = version + 1")
        time.sleep(2)

    for _ in range(2):
        await asyncio.sleep(0.5)
        await store._database.write(write_long)
    await asyncio.gather(*(writer.communicate() for writer in writers))
    assert [writer.returncode for writer in writers] == [0] * 4
    assert await count(store, thread_id="own") == 100


async def test_what_was_acknowledged_survives_a_kill(tmp_path, open_store):
    path = tmp_path / "entries.db"
    writer = await start_writer(path, "writer", 10_000)
    assert writer.stdout is not None
    for _ in range(50):
        acknowledged = int(await writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    await writer.communicate()
    store = await open_store(path=path)
    assert await count(store, thread_id="own") > acknowledged
    assert await store._database.read(lambda connection: connection.pragma("integrity_check")) == "ok"


async def test_a_writer_that_holds_on_too_long_makes_the_others_busy_and_no_more(tmp_path, open_store):
    path = tmp_path / "entries.db"
    store = await open_store(path=path, busy_timeout_s=0.3)
    entry = NewEntry("t", "user", "words")
    other = apsw.Connection(str(path))
    other.execute("begin immediate")
    started = time.monotonic()
    outcomes = await asyncio.gather(
        *(store.store_entries(ALICE, [entry], True) for _ in range(5)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [Busy] * 5
    assert time.monotonic() - started < 2
    assert await count(store) == 0
    other.execute("rollback")
    other.close()
    await store.store_entries(ALICE, [entry], True)
    assert await count(store) == 1


async def test_readers_do_not_wait_for_a_writer(store):
    released = asyncio.Event()
    loop = asyncio.get_running_loop()

    def write_long(connection):
        asyncio.run_coroutine_threadsafe(released.wait(), loop).result()

    writing = asyncio.create_task(store._database.write(write_long))
    await asyncio.sleep(0.05)
    assert store.connection_metrics().in_use == 1
    assert await asyncio.wait_for(count(store), 5) == 0
    released.set()
    await writing
    assert store.connection_metrics().in_use == 0


async def test_a_read_sees_one_moment(store, put):
    await put("one")

    def read_twice(connection):
        before = connection.execute("select count(*) from entry").get
        asyncio.run_coroutine_threadsafe(put("two"), loop).result()
        return before, connection.execute("select count(*) from entry").get

    loop = asyncio.get_running_loop()
    assert await store._database.read(read_twice) == (1, 1)
    assert await count(store) == 2


async def test_an_unexpected_error_undoes_the_whole_call(store):
    good = NewEntry("t", "user", "fine")
    bad = NewEntry("", "user", "no thread")
    with pytest.raises(apsw.ConstraintError):
        await store.store_entries(ALICE, [good, bad], False)
    assert await count(store) == 0
    await store.store_entries(ALICE, [good], False)
    assert await count(store) == 1


async def test_a_file_that_is_no_database_refuses_the_start(tmp_path, open_store):
    path = tmp_path / "notes.txt"
    path.write_text("words " * 1000)
    with pytest.raises(StartRefused, match=r"notes\.txt cannot be opened"):
        await open_store(path=path)
    with pytest.raises(StartRefused, match="cannot be opened"):
        await open_store(path=tmp_path)


async def test_a_file_that_stays_locked_refuses_the_start(tmp_path, open_store):
    path = tmp_path / "entries.db"
    await (await open_store(path=path)).close()
    other = apsw.Connection(str(path))
    other.execute("begin immediate")
    with pytest.raises(StartRefused, match="locked"):
        await open_store(path=path, busy_timeout_s=0.2)
    other.close()


async def test_a_closed_store_says_so_and_opens_again(open_store):
    store = await open_store()
    await store.close()
    await store.close()
    with pytest.raises(RuntimeError, match="not open"):
        await store.get_statistics(ALICE)
    await store.open()
    assert (await store.get_statistics(ALICE)).total_entries == 0
