"""Plain text, Markdown and source code: every encoding in use, and clear refusals of what is no text."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.outcomes import fault_of
from pgcontext.documents.extract import ExtractedDocument, ExtractionFailed, extract, is_supported

GERMAN = "Das Café öffnet täglich, außer an Feiertagen. Größe: 5 €. „Schön“, sagte er.\n"
FRENCH = "Voilà où l’été s’achève – déjà. Ça coûte cher, n’est-ce pas ?\n"
CHINESE = "这是一个测试文件，用来检查编码的识别。第一章介绍系统的结构与数据库设计。\n"
JAPANESE = "これはテストです。文字コードの判定を確認します。データベースの設計について説明する。\n"
RUSSIAN = "Привет, мир! Это проверка кодировки текста в старых файлах.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_files_are_read_without_their_mark(encoding: str) -> None:
    text = GERMAN + CHINESE + "😀\n"
    assert extract(text.encode(encoding), "notes.txt") == ExtractedDocument("notes", text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_recognised(encoding: str) -> None:
    document = extract((GERMAN * 3).encode(encoding), "notes.txt")
    assert document.text == GERMAN * 3
    assert document.warnings == (f"The encoding was recognised as {encoding.upper()}",)


@pytest.mark.parametrize(
    "text, encoding",
    [
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        (CHINESE, "gbk"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
    ],
)
@pytest.mark.parametrize("times", [1, 200])
def test_old_encodings_are_guessed_and_the_guess_is_told(text: str, encoding: str, times: int) -> None:
    document = extract((text * times).encode(encoding), "notes.txt")
    assert document.text == text * times
    assert "guessed" in document.warnings[0]


def test_a_few_bad_bytes_leave_utf_8_what_it_is() -> None:
    document = extract((GERMAN * 20).encode() + b"\xff\xfe\xff" + GERMAN.encode(), "notes.md")
    assert document.text.count("Größe") == 21
    assert document.warnings == ("3 sequences are not valid UTF-8 and were replaced",)


def test_line_ends_become_one_kind() -> None:
    assert extract(b"a\r\nb\rc\n", "a.txt").text == "a\nb\nc\n"
    assert extract(b"a = 1\r\nb = 2\r\n", "a.py").text == "a = 1\nb = 2\n"


def test_nul_and_lone_surrogates_are_removed_and_reported() -> None:
    document = extract(b"one\x00two" + b" and so on" * 10, "a.txt")
    assert document.text.startswith("onetwo and")
    assert document.warnings == ("1 NUL characters were removed",)


@pytest.mark.parametrize(
    "content", [("ab\ud800" + "c" * 300).encode("utf-16", "surrogatepass"), b"ab\xed\xa0\x80" + "ü".encode() * 100]
)
def test_halves_of_surrogate_pairs_are_replaced_and_reported(content: bytes) -> None:
    document = extract(content, "name\udcff.txt")
    document.text.encode()
    assert document.title == "name"
    assert "were replaced" in document.warnings[0]


@pytest.mark.parametrize(
    "content",
    [
        random.Random(1).randbytes(5000),
        b"\x7fELF\x02\x01\x01" + bytes(200),
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        b"%PDF-1.7\n%abc\n",
        b"PK\x03\x04" + bytes(100),
        bytes(range(256)) * 20,
    ],
    ids=["random", "program", "image", "pdf", "archive", "all bytes"],
)
def test_binary_data_named_txt_is_refused(content: bytes) -> None:
    assert fault_of(content, "notes.txt") == "binary"


def test_a_file_of_no_bytes_is_an_empty_document_in_every_format() -> None:
    for name in ("a.txt", "a.pdf", "a.docx", "a.html", "a.xlsx"):
        assert extract(b"", name) == ExtractedDocument("a", "", ("The file is empty",))
    assert extract(b" \n", "a.md").warnings == ("The file holds no text",)


def test_unknown_kinds_are_refused_by_name() -> None:
    assert fault_of(b"x", "movie.mp4") == "unsupported"
    assert not is_supported("movie.mp4")
    assert all(map(is_supported, ("a.PDF", "b/c.Docx", "README", "d\\e.md", "Makefile", "x.rst")))


@pytest.mark.parametrize(
    "text, title",
    [
        ("---\ntitle: 'The Title'\ntags: a\n---\n# Heading\n", "The Title"),
        ('+++\ntitle = "Toml"\n+++\nText\n', "Toml"),
        ("---\ntags: a\n---\n\n## A *fine* [heading](x.md) ##\n", "A fine heading"),
        ("Intro\n\n```sh\n# no heading\n```\n\n# Real\n", "Real"),
        ("=====\nTitle\n=====\n\nText\n", "Title"),
        ("Some Title\n----------\n", "Some Title"),
        ("no heading at all\n", "guide"),
        ("| a |\n-----\n", "guide"),
    ],
)
def test_titles_come_from_front_matter_then_headings_then_the_name(text: str, title: str) -> None:
    document = extract(text.encode(), "docs/guide.md")
    assert (document.title, document.text) == (title, text)


def test_a_comment_in_code_is_no_title() -> None:
    assert extract(b"# Copyright\nimport os\n", "src/tool.py").title == "tool"


def test_one_line_of_thirty_megabytes_is_read_whole() -> None:
    text = "word ä " * (30 * 2**20 // 8)
    assert extract(text.encode(), "long.txt").text == text
    assert extract(text.encode("cp1252"), "long.txt").text == text


def test_a_path_is_read_and_results_and_errors_cross_processes(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Hi\n", encoding="utf-8")
    document = extract(path, path.name)
    assert pickle.loads(pickle.dumps(document)) == document
    error = pickle.loads(pickle.dumps(ExtractionFailed("broken", "why")))
    assert (error.fault, str(error)) == ("broken", "why")


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Co", "Cn")), min_size=1))
def test_all_of_a_text_is_kept(text: str) -> None:
    assert extract(text.encode(), "a.txt").text == text


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.md", "a.py", "a.html", "a.csv"]))
def test_any_bytes_give_storable_text_or_a_clear_refusal(content: bytes, name: str) -> None:
    assert fault_of(content, name) in (None, "binary", "encoding", "broken")
