"""What search knows of a text: its words, stemmed and in order, and the forms by which they are found besides.

Twin of `sql/text/`: the character classes are literally the same there, and a test compares the two. What is a
letter does not hang on any locale: a word is a run of characters that are in none of the classes below.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import cast

LANGUAGES = (
    "simple",
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
)
"""The snowball languages of PostgreSQL 15 and later; `simple` leaves words as they are."""

# accents and points that a word is found without
MARKS = r"\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0655\u0670"
# characters that show nothing, or only how another one looks
INVISIBLE = (
    r"\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff"
    r"\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff"
)
# scripts without spaces between words: Thai, Lao, Burmese, Hangul, Khmer, kana, bopomofo, Han
UNSPACED = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff\u1000-\u1049\u1050-\u109d\u1100-\u11ff"
    r"\u1780-\u17d3\u17d7\u17dc-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c"
    r"\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# each of these is a word of its own
PICTURES = (
    r"\u231a-\u23ff\u2600-\u27bf\u2b50-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001fbff"
)
SEPARATORS = (
    r"\u0001-\u002f:-@\u005b-`\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7"
    r"\u02c2-\u02c5\u02d2-\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u0375\u037e\u0384\u0385\u0387\u03f6\u0482"
    r"\u055a-\u055f\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u060f\u061b\u061d-\u061f\u066a-\u066d\u06d4\u06dd"
    r"\u06de\u06e9\u06fd\u06fe\u0700-\u070f\u0964\u0965\u0970\u09f2\u09f3\u0af1\u0bf3-\u0bfa\u0df4\u0e3f\u0e4f"
    r"\u0e5a-\u0e5b\u0f01-\u0f17\u0f3a-\u0f3d\u104a-\u104f\u10fb\u1360-\u1368\u1400\u1680\u17d4-\u17d6"
    r"\u17d8-\u17db\u1800-\u180a\u180e\u1940-\u1945\u1fbd\u1fbf-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf\u1fed-\u1fef"
    r"\u1ffd-\u200b\u2010-\u2029\u202f-\u205f\u207a-\u207e\u208a-\u208e\u20a0-\u20cf\u2100-\u2125\u2127-\u2129"
    r"\u212e\u213a\u213b\u2140-\u2144\u214a-\u214f\u2190-\u2319\u2400-\u24ff\u2500-\u25ff\u27c0-\u2b4f\u2b56-\u2bff"
    r"\u2cf9-\u2cff\u2e00-\u2e7f\u2ff0-\u3004\u3008-\u3020\u3030\u3036\u3037\u303d-\u3040\u309b\u309c\u30a0\u30fb"
    r"\u3190-\u319f\u31c0-\u31ef\u3200-\u33ff\u4dc0-\u4dff\ua4fe\ua4ff\ua60d-\ua60f\ua8ce\ua8cf\uabeb"
    r"\ue000-\uf8ff\ufd3e\ufd3f\ufdfc-\ufdff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65\uffe0-\uffff\U0001d000-\U0001d3ff\U000f0000-\U0010ffff"
)
# what joins words to a compound such as main.py, POL-358 or C++
JOINERS = r"\-_./:@+#"

_LONGEST = 255
# a tsvector keeps no more places of one lexeme; what stands here keeps the places behind it right
_MOST_PLACES = 256
_FILLER = "."
# the stems of these do not hang on accents, so that words are found without them from the start
ACCENTLESS = ("simple", "english")

_invisible = re.compile(f"[{INVISIBLE}]")
_separators = re.compile(f"[{SEPARATORS}][{SEPARATORS}{MARKS}]*")
_compound = re.compile(
    f"(?<![^{SEPARATORS}{UNSPACED}{PICTURES}])[^{SEPARATORS}{UNSPACED}{PICTURES}]+[{JOINERS}]"
    rf"(?:[^{SEPARATORS}{UNSPACED}{PICTURES}]|[{JOINERS}])*"
)
_ascii_word = re.compile("[a-z0-9]+")
_ascii_compound = re.compile(f"(?<![a-z0-9])[a-z0-9]+[{JOINERS}][a-z0-9{JOINERS}]*")
_term = re.compile(f"(?:[^{SEPARATORS}]|[{JOINERS}'’])+")
_joiner = re.compile(f"[{JOINERS}]")
# where the words of getUserById meet
HUMP = re.compile("([a-z])([A-Z])")
_ascii_run = re.compile("[A-Za-z0-9]+")
_unspaced_run = re.compile(f"[{UNSPACED}]+")
_script_run = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_unspaced_follower = re.compile(f"(?<=[{UNSPACED}])([{UNSPACED}])")
_picture = re.compile(f"[{PICTURES}]")
_marks = re.compile(f"(?<=[^ ])[{MARKS}]+")
_look_alikes = str.maketrans(
    {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ß": "ss"}
)


@dataclass(frozen=True, slots=True)
class AnalyzedText:
    """`words` are the stems, one for each word in the order of the text; `forms` what else the text is found by.

    These are the unstemmed words and the whole identifiers (`main.py`, `getuserbyid`) that are not among the
    stems, each once.
    """

    words: tuple[str, ...]
    forms: tuple[str, ...]

    @property
    def word_count(self) -> int:
        """How many different stems there are."""
        return len({*self.words} - {_FILLER})


def analyze_text(text: str, language: str) -> AnalyzedText:
    """The words and forms of a text, by the stemmer of one of LANGUAGES."""
    plain = _split_words(text, language)
    stem = stemmer(language)
    words = [stem(word[:_LONGEST]) for word in plain]
    identifiers, humps = _identifiers(text, language)
    forms = [word[:_LONGEST] for word in plain] + identifiers
    forms += [form for hump in humps for form in (stem(hump), hump)]
    if language not in ACCENTLESS:
        words = [_without_accents(word) for word in words]
        forms = [_without_accents(form) for form in forms]
    stems = set(words)
    return AnalyzedText(_bounded(words), tuple(form for form in dict.fromkeys(forms) if form not in stems))


@dataclass(frozen=True, slots=True)
class AnalyzedTerm:
    """What a query holds of words: `words` are the stems, `plain` the words themselves, both in order.

    A run in a script without spaces is told by its pairs; its last character, alone behind them, is left out.
    """

    words: tuple[str, ...]
    plain: tuple[str, ...]
    identifiers: tuple[str, ...]


def analyze_term(text: str, language: str) -> AnalyzedTerm:
    """The words of a term or a phrase and the identifiers in it, in code-point order."""
    identifiers, humps = _identifiers(text, language)
    names = {_without_accents(name) for name in (*identifiers, *humps)}
    plain = tuple(_without_accents(word)[:_LONGEST] for word in _split_words(text, language))
    words = analyze_text(text, language).words
    return AnalyzedTerm(words[:-1] if _has_tail(words) else words, plain, tuple(sorted(names)))


def _has_tail(words: tuple[str, ...]) -> bool:
    """Whether the last word is the last character of the pair before it."""
    if len(words) < 2 or len(words[-1]) != 1 or not is_unspaced(words[-1]):
        return False
    return len(words[-2]) == 2 and is_unspaced(words[-2][0]) and words[-2][1] == words[-1]


def split_words(text: str) -> list[str]:
    """The words of a text before they are stemmed, without accents."""
    return _split_words(text, "simple")


def split_terms(text: str) -> list[str]:
    """What somebody typed, taken apart where no word or identifier goes on; each term has at least one word."""
    return [term for term in _term.findall(text) if split_words(term)]


def is_unspaced(text: str) -> bool:
    """Whether a text is all in a script without spaces between words."""
    return _unspaced_run.fullmatch(text) is not None


def split_scripts(text: str) -> list[str]:
    """A term taken apart where scripts without spaces between words begin and end; each part has a word."""
    return [run for run in _script_run.findall(text) if split_words(run)]


def _bounded(words: list[str]) -> tuple[str, ...]:
    counts = Counter(words)
    if all(count <= _MOST_PLACES for count in counts.values()):
        return tuple(words)
    seen: Counter[str] = Counter()
    kept = []
    for word in words:
        seen[word] += 1
        kept.append(word if seen[word] <= _MOST_PLACES else _FILLER)
    return tuple(kept)


def _split_words(text: str, language: str) -> list[str]:
    split = HUMP.sub(r"\1 \2", _visible(text))
    if split.isascii():
        return _ascii_word.findall(split.lower())
    normal = _normalized(split, language)
    if _unspaced_run.search(normal):
        # overlapping pairs, and the last character alone
        normal = _unspaced_follower.sub(r"\1 \1", _unspaced_run.sub(r" \g<0> ", normal))
    normal = _picture.sub(r" \g<0> ", normal)
    return [word for word in _separators.sub(" ", normal).split(" ") if word]


def _identifiers(text: str, language: str) -> tuple[list[str], list[str]]:
    """The compounds of a text, and the identifiers with humps (`getUserById`), all in lower case."""
    visible = _visible(text)
    humps = []
    if HUMP.search(visible):
        humps = [run.lower()[:_LONGEST] for run in _ascii_run.findall(visible) if HUMP.search(run)]
    pattern = _ascii_compound if visible.isascii() else _compound
    trimmed = [compound.rstrip("-_./:@") for compound in pattern.findall(_normalized(visible, language))]
    return [compound[:_LONGEST] for compound in trimmed if _joiner.search(compound)], humps


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _invisible.sub("", text))


def _normalized(visible: str, language: str) -> str:
    # two letters whose lower case depends on their place or on the language
    lower = visible.replace("İ", "I").lower().replace("ς", "σ")
    return _without_accents(lower) if language in ACCENTLESS else lower


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    bare = _marks.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_look_alikes)


_RELEASE = "2.2."
_REMEMBERED = 50_000
# where PostgreSQL 18 has taken over changes that came after this release
_english_double = re.compile("[aeo](bb|dd|ff|gg|mm|nn|pp|rr|tt)(ed|edly|ing|ingly)")
_german_spelling = re.compile("ß|ae|oe|(?<![aeiouyäöüq])ue")
_GERMAN_LETTERS = {"ß": "ss", "ae": "ä", "oe": "ö", "ue": "ü"}
_german_ending = re.compile("(?=...)(.*?[aeiouyäöü][^aeiouyäöü].*)(?:(er)in(?:nen)?|(l)ns?)")
_ROMANIAN_LETTERS = str.maketrans("şţ", "șț")


def _adapt_german(word: str) -> str:
    if word.endswith("system"):
        return f"{word}e"
    ending = _german_ending.fullmatch(word)
    if ending is not None and len(ending[1]) > 2:
        word = ending[1] + (ending[2] or ending[3])
    return _german_spelling.sub(lambda found: _GERMAN_LETTERS[found[0]], word)


_ADAPTED: dict[str, Callable[[str], str]] = {
    "german": _adapt_german,
    "romanian": lambda word: word.translate(_ROMANIAN_LETTERS),
}


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """The stemmer of one of LANGUAGES, which remembers what it has stemmed; may be used from any thread."""
    if language == "simple":
        return str
    adapt = _ADAPTED.get(language, str)
    stem_word = _snowball(language)
    turn = Lock()

    @lru_cache(maxsize=_REMEMBERED)
    def stem(word: str) -> str:
        if language == "english" and _english_double.fullmatch(word):
            return word[:3]
        with turn:
            return stem_word(adapt(word)) or word

    return stem


def _snowball(language: str) -> Callable[[str], str]:
    """The algorithm in C where PyStemmer is there, else in Python; of the release nearest to PostgreSQL's."""
    try:
        if version("PyStemmer").startswith(_RELEASE):
            import Stemmer

            return cast(Callable[[str], str], Stemmer.Stemmer(language).stemWord)
    except PackageNotFoundError:
        pass
    module = import_module(f"snowballstemmer.{language}_stemmer")
    return cast(Callable[[str], str], getattr(module, f"{language.capitalize()}Stemmer")().stemWord)
