"""Bytes to text: byte-order marks, UTF-8, and a guess that is checked."""

from __future__ import annotations

import codecs

from pgcontext.documents.extract.result import ExtractionFailed

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The encodings that text files of the last decades have, so that a short text is not taken for an exotic one.
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8_r",
    "gb18030", "big5", "cp932", "euc_jp", "iso2022_jp", "cp949", "tis_620",
]  # fmt: skip
_SIGNATURES = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\x1f\x8b\x08", "a compressed file"),
    (b"7z\xbc\xaf\x27\x1c", "a compressed file"),
    (b"\xfd7zXZ\x00", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"SQLite format 3\x00", "a database"),
)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r\x1b") + b"\x7f"
_SAMPLE = 64 * 1024
# Short texts in the Latin code pages differ in a letter or two; these are what western Europe writes with.
_LATIN = ("cp1250", "cp1254", "cp1257", "cp1258")
_WESTERN = frozenset("àáâäåæçèéêëíîïñóôöøùúûüßœÀÁÂÄÅÆÇÈÉÊËÍÎÏÑÓÔÖØÙÚÛÜŒ‘’“”„–—…€£§°©®«»¿¡·•\xa0")
# The Japanese and the simplified Chinese EUC encodings share most of their bytes; only Japanese has kana.
_KANA = frozenset(map(chr, range(0x3041, 0x30FF)))


def decode(content: bytes, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text of a file and, where its encoding had to be guessed or repaired, a warning that says so.

    `declared` is the encoding that the document itself names; it is tried after UTF-8. Raises `ExtractionFailed`
    for what is no text (`binary`) and for text in no known encoding (`encoding`).
    """
    for signature, kind in _SIGNATURES:
        if content.startswith(signature):
            raise ExtractionFailed("binary", f"The file is {kind}, which its name does not say")
    for mark, name in _MARKS:
        if content.startswith(mark):
            return _decode_marked(content, name)
    if b"\x00" in content and (wide := _unmarked_utf16(content)):
        return wide
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _decode_other(content, declared)
    _refuse_binary(content, most=0.3)
    return text, ()


def _decode_marked(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    try:
        return content.decode(name), ()
    except UnicodeDecodeError:
        text = content.decode(name, errors="replace")
    faults = text.count("\ufffd")
    if faults * 100 > len(text):
        raise ExtractionFailed("encoding", f"The file says that it is {name.upper()}, and it is not")
    return text, (f"{faults} sequences are not valid {name.upper()} and were replaced",)


def _unmarked_utf16(content: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-16 without a mark: every other byte of spaces, digits, markup and Latin letters is zero."""
    sample = content[: _SAMPLE & ~1]
    half = max(len(sample) // 2, 1)
    even, odd = sample[::2].count(0) / half, sample[1::2].count(0) / half
    if abs(even - odd) < 0.05 or min(even, odd) > 0.01 or len(content) % 2:
        return None
    name = "utf-16-le" if odd > even else "utf-16-be"
    try:
        text = content.decode(name)
    except UnicodeDecodeError:
        return None
    printable = sum(character.isprintable() or character.isspace() for character in text[:_SAMPLE])
    if printable < 0.98 * len(text[:_SAMPLE]):
        return None
    return text, (f"The encoding was recognised as {name.upper()}",)


def _refuse_binary(content: bytes, *, most: float) -> None:
    sample = content[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > most * len(sample):
        raise ExtractionFailed("binary", "The file is binary data, not text")


def _decode_other(content: bytes, declared: str | None) -> tuple[str, tuple[str, ...]]:
    _refuse_binary(content, most=0.01)
    if declared and (text := _try(content, declared)) is not None:
        return text, ()
    repaired = content.decode(errors="replace")
    faults = repaired.count("\ufffd")
    beyond_ascii = sum(not character.isascii() for character in repaired[: 16 * _SAMPLE])
    if faults * 20 < beyond_ascii:
        return repaired, (f"{faults} sequences are not valid UTF-8 and were replaced",)
    for name in _guesses(content):
        if (text := _try(content, name)) is not None:
            return text, (f"The encoding was guessed as {name}",)
    raise ExtractionFailed("encoding", "The text is in no known encoding; store it as UTF-8")


def _try(content: bytes, name: str) -> str | None:
    try:
        return content.decode(name)
    except (UnicodeError, LookupError):
        return None


def _guesses(content: bytes) -> list[str]:
    """Encodings that may fit, the likeliest first, judged by the lines that are not ASCII."""
    from charset_normalizer import from_bytes

    lines = [line for line in content[: 64 * _SAMPLE].splitlines(keepends=True) if not line.isascii()]
    sample = b"".join(lines)[:_SAMPLE] if len(lines) > 1 else content[:_SAMPLE]
    guesses = [match.encoding for match in from_bytes(sample, cp_isolation=_CANDIDATES)]
    if _share(sample, "euc_jp", _KANA) > 0.2:
        return ["euc_jp", *guesses]
    if guesses[:1] == ["euc_jp"]:
        return ["gb18030", *guesses]
    if guesses[:1] not in (["cp1252"], []) and guesses[0] in _LATIN and _share(sample, "cp1252", _WESTERN) > 0.97:
        return ["cp1252", *guesses]
    return guesses


def _share(sample: bytes, name: str, letters: frozenset[str]) -> float:
    """How many of the characters beyond ASCII are among these letters, if the sample is in the encoding."""
    beyond_ascii = [character for character in sample.decode(name, errors="ignore") if not character.isascii()]
    return sum(character in letters for character in beyond_ascii) / max(len(beyond_ascii), 1)
