"""Base folders: nothing outside can be read or told apart, and a file has one name."""

from __future__ import annotations

import os
import string
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgcontext.documents.folders import BaseFolders, FileUnreadable, Location, OutsideBaseFolders, read_file
from pgcontext.errors import StartRefused

MIB = 2**20


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A base folder `docs` with a secret beside it and links of every kind in it."""
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "sub" / "a.md").write_text("inside")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("secret")
    (docs / "file-out.txt").symlink_to(tmp_path / "secret" / "key.txt")
    (docs / "folder-out").symlink_to(tmp_path / "secret")
    (docs / "nowhere").symlink_to(tmp_path / "missing")
    (docs / "again").symlink_to(docs / "sub")
    (docs / "loop").symlink_to(docs / "loop")
    return tmp_path


def test_a_file_has_one_name_however_its_path_is_spelt(home: Path) -> None:
    (home / "alias").symlink_to(home / "docs")
    bases = BaseFolders.of([home / "alias"])
    spellings = ["sub/a.md", "./sub//a.md", "sub/../sub/a.md", "again/a.md", "sub/./a.md"]
    for base in (home / "docs", home / "alias"):
        for spelling in spellings:
            assert bases.locate(f"{base}/{spelling}") == Location(str(home / "docs"), ("sub", "a.md"))


@pytest.mark.parametrize("written, asked", [("NFC", "NFD"), ("NFD", "NFC")])
def test_both_unicode_forms_of_a_name_are_the_file_on_disk(home: Path, written: str, asked: str) -> None:
    folder, name = (unicodedata.normalize(written, text) for text in ("Ordner für Ö", "Café 日本 が 😀.md"))
    (home / "docs" / folder).mkdir()
    (home / "docs" / folder / name).write_text("x")
    spelt = unicodedata.normalize(asked, f"{home}/docs/{folder}/{name}")
    location = BaseFolders.of([home / "docs"]).locate(spelt)
    assert location.parts == (folder, name)
    assert read_file(location, MIB) == b"x"


def test_two_files_whose_names_differ_in_form_only_stay_two(home: Path) -> None:
    for form in ("NFC", "NFD"):
        (home / "docs" / unicodedata.normalize(form, "é.md")).write_text(form)
    bases = BaseFolders.of([home / "docs"])
    if len(list((home / "docs").glob("*.md"))) == 2:
        for form in ("NFC", "NFD"):
            location = bases.locate(unicodedata.normalize(form, f"{home}/docs/é.md"))
            assert read_file(location, MIB) == form.encode()


def test_a_link_in_another_unicode_form_leads_nowhere_outside(home: Path) -> None:
    (home / "docs" / unicodedata.normalize("NFC", "é")).symlink_to(home / "secret")
    with pytest.raises(OutsideBaseFolders):
        BaseFolders.of([home / "docs"]).locate(unicodedata.normalize("NFD", f"{home}/docs/é/key.txt"))


@pytest.mark.parametrize(
    "path",
    [
        "{}/secret/key.txt", "{}/secret/none.txt", "{}/docs/../secret/key.txt", "{}/docs/../secret/none.txt",
        "{}/docs/file-out.txt", "{}/docs/folder-out/key.txt", "{}/docs/folder-out/none.txt", "{}/docs/nowhere",
        "{}/docs/nowhere/x", "{}/docs2/x", "{}", "/", "/etc/passwd", "/etc/none", "docs/sub/a.md", "", "~/a.md",
        "{}/docs/sub/../../secret/key.txt", "{}/docs/a\x00b", "{}/docs/\udcff", "{}/docs/.ssh/id",
        "{}/docs/x/.aws/c",
    ],
)  # fmt: skip
def test_everything_outside_gets_the_same_answer_whether_it_exists_or_not(home: Path, path: str) -> None:
    with pytest.raises(OutsideBaseFolders) as caught:
        BaseFolders.of([home / "docs"]).locate(path.format(home))
    assert str(caught.value) == "The path is not inside the base folders"


def test_a_file_that_is_gone_still_has_its_name(home: Path) -> None:
    location = BaseFolders.of([home / "docs"]).locate(f"{home}/docs/again/gone.md")
    assert location.relative == "sub/gone.md"
    with pytest.raises(FileUnreadable, match="does not exist"):
        read_file(location, MIB)


@pytest.mark.parametrize("place", ["{}/secret/x", "{}/docs/../secret"])
def test_a_folder_that_becomes_a_link_after_the_check_leads_nowhere(home: Path, place: str) -> None:
    location = BaseFolders.of([home / "docs"]).locate(f"{home}/docs/sub/a.md")
    (home / "docs" / "sub").rename(home / "docs" / "moved")
    (home / "secret" / "a.md").write_text("secret")
    (home / "docs" / "sub").symlink_to(home / "secret")
    with pytest.raises(FileUnreadable):
        read_file(location, MIB)


def test_only_regular_files_up_to_the_limit_are_read(home: Path) -> None:
    docs = home / "docs"
    os.mkfifo(docs / "pipe.txt")
    (docs / "large.txt").write_bytes(bytes(101))
    (docs / "exact.txt").write_bytes(bytes(100))
    for name, reason in (("pipe.txt", "not a file"), ("sub", "not a file"), ("large.txt", "larger than 100")):
        with pytest.raises(FileUnreadable, match=reason):
            read_file(Location(str(docs), (name,)), 100)
    with pytest.raises(FileUnreadable):
        read_file(Location(str(docs), ("file-out.txt",)), 100)
    with pytest.raises(FileUnreadable):
        read_file(Location(str(docs), ()), 100)
    assert len(read_file(Location(str(docs), ("exact.txt",)), 100)) == 100


@pytest.mark.parametrize(
    "folder",
    [
        "/",
        "/etc",
        "/etc/ssl",
        "/proc",
        "/proc/self",
        "/sys",
        "/dev",
        "/usr",
        "/var",
        "/usr/lib",
        "relative",
        "",
        "a\x00",
    ],
)
def test_system_folders_and_relative_paths_are_no_base_folders(folder: str) -> None:
    with pytest.raises(StartRefused):
        BaseFolders.of([folder])


def test_folders_with_keys_are_no_base_folders_not_even_by_a_link(home: Path) -> None:
    (home / "user" / ".ssh").mkdir(parents=True)
    (home / "link").symlink_to(home / "user" / ".ssh")
    (home / "etc").symlink_to("/etc")
    for folder in ("user", "user/.ssh", "user/.ssh/deeper", "link", "etc"):
        with pytest.raises(StartRefused):
            BaseFolders.of([home / folder])


def test_a_base_folder_inside_another_adds_nothing(home: Path) -> None:
    docs = str(home / "docs")
    assert BaseFolders.of([f"{docs}/sub", docs, f"{docs}/again", docs]).roots == (docs,)


STEPS = st.sampled_from(
    ["..", ".", "sub", "again", "folder-out", "file-out.txt", "nowhere", "loop", "a.md", "secret", "docs", "", "x"]
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=8), st.sampled_from(["docs", "docs/sub", "secret", ""]))
def test_no_path_leads_out_and_each_has_one_name(home: Path, steps: list[str], start: str) -> None:
    bases = BaseFolders.of([home / "docs"])
    path = os.path.join(home, start, *(step for step in steps if step))
    try:
        location = bases.locate(path)
    except OutsideBaseFolders:
        return
    assert location.path == os.path.realpath(path)
    assert os.path.commonpath([location.path, home / "docs"]) == str(home / "docs")
    assert bases.locate(location.path) == location
    try:
        assert read_file(location, MIB) == b"inside"
    except FileUnreadable:
        assert not os.path.isfile(path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(string.printable + "éが\u0301\udc80", max_size=30))
def test_any_text_is_a_place_inside_or_refused(home: Path, text: str) -> None:
    bases = BaseFolders.of([home / "docs"])
    for path in (text, f"{home}/docs/{text}"):
        try:
            assert bases.locate(path).root == str(home / "docs")
        except OutsideBaseFolders:
            continue
