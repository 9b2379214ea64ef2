"""All the text of a file: `extract` knows the format from the file's name and gives it to that format's reader.

Readers take bytes and are pure, so that they can run in worker processes; their libraries belong to the extra
`documents` and are imported when a file needs them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from pgcontext.documents.extract.result import (
    Content,
    ExtractedDocument,
    ExtractionFailed,
    check_length,
)
from pgcontext.documents.extract.titles import tidy, title_from_name

__all__ = ["ExtractedDocument", "ExtractionFailed", "extract", "is_supported"]

_PLAIN = (
    "txt text log rst adoc asciidoc org tex md markdown mdx mkd qmd rmd me readme changes news copyright license"
)
_CODE = (
    "py pyi js mjs cjs ts tsx jsx java kt kts scala go rs c h cc cpp cxx hpp hh cs swift rb php pl pm lua r jl hs "
    "erl ex exs clj ml mli fs vb dart zig nim sh bash zsh fish ps1 bat cmd sql graphql proto tf hcl toml yaml yml "
    "json jsonl ndjson json5 ini cfg conf properties env xml xsd svg css scss less vue svelte csv tsv diff patch "
    "cmake gradle groovy mk dockerfile makefile ipynb"
)
# suffix or, where there is none, the name -> module and function of the reader
_READERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(_PLAIN.split(), ("plain", "read_text")),
    **dict.fromkeys(_CODE.split(), ("plain", "read_code")),
    **dict.fromkeys(("html", "htm", "xhtml"), ("html", "read_html")),
    **dict.fromkeys(("xlsx", "xlsm"), ("sheets", "read_sheets")),
    "pdf": ("pdf", "read_pdf"),
    "docx": ("docx", "read_docx"),
    "pptx": ("pptx", "read_pptx"),
    "epub": ("epub", "read_epub"),
}
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_supported(name: str) -> bool:
    """Whether a file of this name can be extracted."""
    return _kind(name) in _READERS


def extract(source: Path | bytes, name: str) -> ExtractedDocument:
    """The text of a file, given by its path or its bytes, whose name is `name`.

    Raises `ExtractionFailed` when the format is not supported or its library is missing, and when the file is
    encrypted, scanned, broken, binary, too large or in no known encoding; OSError when the path cannot be read.
    A file of no bytes is an empty document, whatever its format.
    """
    kind = _kind(name)
    if kind not in _READERS:
        raise ExtractionFailed("unsupported", f"Files of the kind '{tidy(kind) or name}' are not supported")
    content = source if isinstance(source, bytes) else source.read_bytes()
    if not content:
        return ExtractedDocument(title_from_name(name), "", ("The file is empty",))
    return _finish(_read(content, *_READERS[kind]), name)


def _kind(name: str) -> str:
    last = PurePosixPath(name.replace("\\", "/")).name.lower()
    return (PurePosixPath(last).suffix or last).lstrip(".")


def _read(content: bytes, module: str, function: str) -> Content:
    reader: Callable[[bytes], Content] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    try:
        return reader(content)
    except ExtractionFailed:
        raise
    except ModuleNotFoundError as error:
        raise ExtractionFailed(
            "missing_library",
            f"Reading this kind of file needs the package '{error.name}': install pgcontext[documents]",
        ) from None
    except MemoryError:
        raise ExtractionFailed("too_large", "Reading the file takes more memory than there is") from None
    # The libraries raise anything for files that somebody made to break them; those in Rust panic past Exception.
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ExtractionFailed("broken", f"The file is damaged ({type(error).__name__})") from error


def _finish(content: Content, name: str) -> ExtractedDocument:
    """The document without what cannot be stored, one kind of line end, and a title in any case."""
    check_length(len(content.text))
    text = content.text.replace("\r\n", "\n").replace("\r", "\n")
    warnings = list(content.warnings)
    for kind, pattern in (("NUL characters", re.compile("\x00")), ("lone surrogates", _SURROGATE)):
        text, count = pattern.subn("", text)
        if count:
            warnings.append(f"{count} {kind} were removed")
    if not text.strip():
        warnings.append("The file holds no text")
    title = tidy(_SURROGATE.sub("", content.title or "")) or title_from_name(_SURROGATE.sub("", name))
    return ExtractedDocument(title, text, tuple(warnings))
