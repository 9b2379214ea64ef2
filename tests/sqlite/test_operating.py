"""`pgcontext doctor` and `pgcontext explain-access` on a SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from pgcontext.errors import EntryNotFound, StartRefused
from pgcontext.principal import Principal
from pgcontext.storage.operating import Finding
from pgcontext.storage.sqlite.operating import examine, explain_access
from pgcontext.storage.sqlite.store import SqliteStore
from pgcontext.storage.values import AccessPolicy, NewEntry
from surface.process import run

FIELDS = {"status": "string", "priority": "integer"}
Spoil = Callable[[Path], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file as the server leaves it, with an entry of Alice's."""
    path = tmp_path / "pgcontext.db"
    asyncio.run(_fill(path))
    path.chmod(0o600)
    return path


async def _fill(path: Path) -> None:
    store = SqliteStore(path, AccessPolicy(), indexed_fields=FIELDS)
    await store.open()
    await store.store_entries(Principal("alice"), [NewEntry("t", "user", "text")], True)
    await store.close()


def the_entry(path: Path) -> str:
    with apsw.Connection(str(path)) as connection:
        ((entry_id,),) = connection.execute("select id from entry").fetchall()
    return str(entry_id)


def grant(path: Path, kind: str, who: str, permission: str) -> None:
    async def share() -> None:
        store = SqliteStore(path, AccessPolicy(), indexed_fields=FIELDS)
        await store.open()
        await store.share_entry(Principal("alice"), the_entry(path), kind, who, permission)  # type: ignore[arg-type]
        await store.close()

    asyncio.run(share())


def test_a_sound_file_has_no_faults(path: Path) -> None:
    assert examine(path, FIELDS) == []


def test_looking_for_a_file_creates_none(tmp_path: Path) -> None:
    path = tmp_path / "absent.db"
    (finding,) = examine(path, FIELDS)
    assert (finding.severity, finding.area) == ("error", "file")
    assert not path.exists()
    with pytest.raises(StartRefused):
        explain_access(path, AccessPolicy(), "0" * 32, "alice", [])


def _execute(statement: str) -> Spoil:
    def spoil(path: Path) -> None:
        connection = apsw.Connection(str(path))
        connection.execute(statement)
        connection.close()

    return spoil


def _overwrite(path: Path) -> None:
    path.write_bytes(b"this is no database, though it is long enough to be looked at" * 50)


@pytest.mark.parametrize(
    "spoil, severity, told",
    [
        (_execute("drop table entry"), "error", "holds no installation"),
        (_execute("delete from _yoyo_migration"), "error", "migration 0001.entries is missing"),
        (_execute("delete from entry"), "error", "belongs to no row of entry"),
        (_execute("pragma journal_mode = delete"), "warning", "the write-ahead log is off"),
        (lambda path: path.chmod(0o644), "warning", "others on this machine may read the file"),
        (_overwrite, "error", "file"),
    ],
)
def test_what_is_wrong_is_told_with_a_remedy(path: Path, spoil: Spoil, severity: str, told: str) -> None:
    spoil(path)
    findings = [finding for finding in examine(path, FIELDS) if told in finding.fault]
    assert findings
    assert all(finding.severity == severity and finding.remedy for finding in findings)


def test_indexes_that_differ_from_the_settings_are_told(path: Path) -> None:
    def faults(fields: dict[str, str]) -> list[Finding]:
        return examine(path, fields)

    (missing,) = faults(FIELDS | {"project": "string"})
    (surplus,) = faults({"status": "string"})
    assert missing.fault == "the index on metadata field project is missing"
    assert surplus.fault == "the index on metadata field priority is surplus"


def test_every_reason_is_told(path: Path) -> None:
    grant(path, "user", "bob", "read")
    grant(path, "group", "red", "read")
    grant(path, "group", "red", "write")

    def told(who: str, *groups: str, policy: AccessPolicy | None = None) -> list[tuple[str, str, str | None]]:
        rules = explain_access(path, policy or AccessPolicy(), the_entry(path), who, groups)
        return [(rule.permission, rule.rule, rule.through) for rule in rules]

    assert told("alice") == [
        ("read", "owner", "alice"),
        ("write", "owner", "alice"),
        ("own", "owner", "alice"),
    ]
    assert told("bob", "red") == [
        ("read", "grant to group", "red"),
        ("read", "grant to user", "bob"),
        ("write", "grant to group", "red"),
    ]
    assert told("dora") == []
    assert told("dora", "red", policy=AccessPolicy(anonymous_principal="dora")) == [
        ("read", "grant to group", "red")
    ]
    with pytest.raises(EntryNotFound):
        explain_access(path, AccessPolicy(), "0" * 32, "alice", [])


def test_the_commands_tell_by_their_exit_status(path: Path, tmp_path: Path) -> None:
    settings = {"DB_PATH": str(path), "METADATA_INDEXED_FIELDS": "status,priority:integer"}
    well = run(tmp_path, "doctor", **settings)
    assert (well.returncode, well.stdout) == (0, "no errors\n")
    _overwrite(path.with_name("broken.db"))
    ill = run(tmp_path, "doctor", DB_PATH=str(path.with_name("broken.db")))
    assert (ill.returncode, ill.stdout.splitlines()[-1]) == (1, "there are errors")
    owner = run(tmp_path, "explain-access", the_entry(path), "alice", **settings)
    assert owner.returncode == 0
    assert [line.split()[:3] for line in owner.stdout.splitlines()] == [
        ["read", "owner", "alice"],
        ["write", "owner", "alice"],
        ["own", "owner", "alice"],
    ]
    assert run(tmp_path, "explain-access", the_entry(path), "bob", **settings).returncode == 1


@pytest.mark.parametrize("entry", ["nonsense", "01900000"])
def test_an_entry_is_named_by_its_whole_id(tmp_path: Path, entry: str) -> None:
    refused = run(tmp_path, "explain-access", entry, "alice", DB_PATH=str(tmp_path / "x.db"))
    assert refused.returncode == 78
    assert "ENTRY must be" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_entry_that_is_not_there_is_told(path: Path, tmp_path: Path) -> None:
    missing = run(tmp_path, "explain-access", "0" * 32, "alice", DB_PATH=str(path))
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "not found" in missing.stderr
