"""Scans: which documents are there, and what must not be taken for gone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgcontext.documents import folders
from pgcontext.documents.folders import BaseFolders
from pgcontext.documents.ignoring import IgnoreRules, compile_lines
from pgcontext.documents.scan import Scan, scan

EVERYTHING = IgnoreRules(gitignore=False, hidden=False, folders=frozenset())


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    write(folder, "a.md", "sub/b.txt", "sub/deep/c.html")
    return folder


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def scanned(folder: Path, rules: IgnoreRules | None = None, **options: object) -> Scan:
    return scan(BaseFolders.of([folder]), rules, **options)  # type: ignore[arg-type]


def names(found: Scan) -> list[str]:
    return [file.location.relative for file in found.files]


def test_all_documents_are_found_with_their_size_in_one_order(docs: Path) -> None:
    found = scanned(docs)
    assert names(found) == ["a.md", "sub/b.txt", "sub/deep/c.html"]
    assert {file.size for file in found.files} == {1}
    assert (found.unknown, found.notes) == ((), ())
    assert found.may_prune(f"{docs}/sub/gone.md")
    assert not found.may_prune(f"{docs}-other/gone.md")


def test_files_of_other_kinds_are_no_documents(docs: Path) -> None:
    write(docs, "movie.mp4", "archive.zip")
    assert "movie.mp4" not in names(scanned(docs))
    assert names(scanned(docs, accepts=lambda name: name.endswith(".mp4"))) == ["movie.mp4"]


def test_hidden_files_and_dependencies_are_left_out_unless_wanted(docs: Path) -> None:
    write(docs, ".hidden.md", ".git/x.md", "node_modules/p/readme.md", "sub/node_modules/p.md", "vendor/v.md")
    kept = ["a.md", "sub/b.txt", "sub/deep/c.html"]
    assert names(scanned(docs, IgnoreRules(folders=frozenset({"node_modules", "vendor"})))) == kept
    assert len(scanned(docs, EVERYTHING).files) == 8
    assert names(scanned(docs, IgnoreRules(patterns=("vendor/", "*.txt")))) == ["a.md", "sub/deep/c.html"]


def test_folders_with_keys_are_never_walked(docs: Path) -> None:
    write(docs, "x/.ssh/config.txt", "x/.aws/credentials.txt")
    assert len(scanned(docs, EVERYTHING).files) == 3


def test_links_are_not_followed_and_reported(docs: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", "secret.md")
    (docs / "out").symlink_to(tmp_path / "outside")
    (docs / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (docs / "again").symlink_to(docs / "sub")
    (docs / "loop").symlink_to(docs)
    found = scanned(docs)
    assert len(found.files) == 3
    assert [os.path.basename(note.path) for note in found.notes] == ["again", "loop", "out", "out.md"]


def test_pipes_are_passed_over(docs: Path) -> None:
    os.mkfifo(docs / "pipe.md")
    assert len(scanned(docs).files) == 3


def test_files_over_the_limit_are_reported_and_what_is_stored_of_them_stays(docs: Path) -> None:
    (docs / "large.md").write_text("x" * 11)
    (docs / "exact.md").write_text("x" * 10)
    found = scanned(docs, max_file_size=10)
    assert names(found) == ["a.md", "exact.md", "sub/b.txt", "sub/deep/c.html"]
    assert [problem.reason for problem in found.unknown] == ["The file is larger than 10 bytes"]
    assert not found.may_prune(f"{docs}/large.md")


def test_names_that_cannot_be_stored_are_reported(docs: Path) -> None:
    with open(os.fsencode(docs) + b"/bad\xff.md", "w"):
        pass
    found = scanned(docs)
    assert len(found.files) == 3
    assert [note.reason for note in found.notes] == ["The name is not valid Unicode"]
    found.notes[0].path.encode()


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Root may read everything, so the refusal of the system is played."""
    real = os.scandir

    def refusing(opened: int) -> object:
        if os.path.realpath(f"/proc/self/fd/{opened}") == str(folder):
            raise PermissionError(13, "Permission denied")
        return real(opened)

    monkeypatch.setattr(os, "scandir", refusing)


def test_nothing_is_pruned_under_a_folder_that_cannot_be_read(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, docs / "sub")
    found = scanned(docs)
    assert names(found) == ["a.md"]
    assert [(problem.path, problem.reason) for problem in found.unknown] == [
        (f"{docs}/sub", "The folder cannot be read: Permission denied")
    ]
    assert not found.may_prune(f"{docs}/sub/b.txt")
    assert not found.may_prune(f"{docs}/sub/deep/c.html")
    assert found.may_prune(f"{docs}/subject.md")


def test_nothing_is_pruned_where_the_ignore_rules_cannot_be_read(docs: Path) -> None:
    (docs / "sub" / ".gitignore").write_bytes(b"#" * 300_000)
    found = scanned(docs)
    assert names(found) == ["a.md"]
    assert not found.may_prune(f"{docs}/sub/b.txt")


@pytest.mark.parametrize("loss", ["missing", "empty", "only folders", "a file", "a link", "unreadable"])
def test_a_base_folder_that_is_lost_is_doubt(docs: Path, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bases = BaseFolders.of([docs])
    if loss == "unreadable":
        refuse(monkeypatch, docs)
    else:
        docs.rename(docs.with_name("elsewhere"))
    if loss in ("empty", "only folders"):
        docs.mkdir()
    if loss == "only folders":
        (docs / "sub").mkdir()
    if loss == "a file":
        docs.write_text("x")
    if loss == "a link":
        docs.symlink_to(docs.with_name("elsewhere"))
    for below in (None, bases.locate(f"{docs}/sub")) if loss not in ("a link", "only folders") else (None,):
        found = scan(bases, below=below)
        assert found.files == ()
        assert not found.may_prune(f"{docs}/sub/b.txt")
        assert found.unknown[0].reason


def test_a_part_of_a_base_folder_can_be_scanned_under_the_same_rules(docs: Path) -> None:
    write(docs, "sub/deep/skip.log", "sub/x.md")
    (docs / ".gitignore").write_text("*.log\n/ignored/\n")
    write(docs, "ignored/i.md")
    bases = BaseFolders.of([docs])
    part = scan(bases, below=bases.locate(f"{docs}/sub/deep"))
    assert names(part) == ["sub/deep/c.html"]
    assert part.may_prune(f"{docs}/sub/deep/gone.md")
    assert not part.may_prune(f"{docs}/sub/x.md")
    one = scan(bases, below=bases.locate(f"{docs}/sub/x.md"))
    assert names(one) == ["sub/x.md"]
    gone = scan(bases, below=bases.locate(f"{docs}/sub/gone"))
    assert gone.may_prune(f"{docs}/sub/gone/a.md")
    ignored = scan(bases, below=bases.locate(f"{docs}/ignored"))
    assert (ignored.files, ignored.may_prune(f"{docs}/ignored/i.md")) == ((), False)


def test_several_base_folders_are_walked_once_each(docs: Path, tmp_path: Path) -> None:
    write(tmp_path / "more", "m.md")
    found = scan(BaseFolders.of([tmp_path / "more", docs, docs / "sub"]))
    assert names(found) == ["m.md", "a.md", "sub/b.txt", "sub/deep/c.html"]


@pytest.fixture
def thousand_levels(docs: Path) -> Iterator[None]:
    """So many folders in each other; too many for what clears up after the tests."""
    here = os.open(docs, os.O_RDONLY)
    for _ in range(1000):
        os.mkdir("levels", dir_fd=here)
        below = os.open("levels", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("deep.md", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)
    yield
    subprocess.run(["rm", "-rf", str(docs / "levels")], check=True)


@pytest.mark.usefixtures("thousand_levels")
def test_a_folder_of_a_thousand_levels_is_walked_or_reported(docs: Path) -> None:
    found = scanned(docs)
    assert len(found.files) == 3
    assert [problem.reason for problem in found.unknown] == ["The path is too long"]


def test_the_scan_works_without_descriptors_too(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_WALKS_BY_DESCRIPTOR", False)
    (docs / "again").symlink_to(docs / "sub")
    (docs / ".gitignore").write_text("*.txt")
    assert names(scanned(docs)) == ["a.md", "sub/deep/c.html"]


def test_rules_that_would_take_too_long_are_refused_and_reported(docs: Path) -> None:
    (docs / ".gitignore").write_text("*a*a*a*a*a*a*a*b.md\n*.txt\n")
    write(docs, "a" * 200 + ".md")
    found = scanned(docs)
    assert len(found.files) == 3
    assert "cannot be used" in found.notes[0].reason
    assert compile_lines(["*.md", "# " + "*" * 9, "", "*a*b*c*d*e*f*g"])[1] == ("*a*b*c*d*e*f*g",)


PARTS = st.sampled_from(["a", "b", "doc", "build", "a.md", "b.txt", "x.log", "日本"])
PATTERNS = st.one_of(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "/", "**/", "*/"]),
        st.lists(
            st.sampled_from(["a", "b", "doc", "build", "*", "**", "*.md", "?", "x.*", "[ab]", "日本"]),
            min_size=1,
            max_size=3,
        ).map("/".join),
        st.sampled_from(["", "", "/", "/**"]),
    ),
    st.sampled_from(["", "# comment", "\\!a", "\\#b", "a ", "*"]),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(PARTS, min_size=1, max_size=4), min_size=1, max_size=12),
    st.dictionaries(st.sampled_from(["", "a", "doc", "a/b"]), st.lists(PATTERNS, max_size=5), max_size=3),
)
def test_ignore_rules_mean_what_git_means(
    tmp_path: Path, files: list[list[str]], rules: dict[str, list[str]]
) -> None:
    folder = tmp_path / "work"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for parts in files:
        try:
            write(folder, "/".join(parts))
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
    for place, lines in rules.items():
        if (folder / place).is_dir():
            (folder / place / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = names(scanned(folder, IgnoreRules(folders=frozenset()), accepts=lambda name: name != ".gitignore"))
    assert sorted(found) == sorted(unignored_by_git(folder))


def unignored_by_git(folder: Path) -> list[str]:
    git = ["git", "-c", "core.excludesFile=/dev/null", "-c", "core.ignorecase=false", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-standard"], check=True, capture_output=True
    )
    return [name for name in listed.stdout.decode().split("\0") if name and not name.endswith(".gitignore")]
