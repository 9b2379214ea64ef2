"""Finding, slicing and outlining texts, and entries by the beginning of their ids. Twin of `sql/navigation/`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pgcontext.errors import EntryNotFound
from pgcontext.storage.sqlite.access import Session, Value, in_order, with_rules
from pgcontext.storage.sqlite.filters import compile_filter
from pgcontext.storage.sqlite.util import to_json, to_micros
from pgcontext.storage.values import Candidate, EntryFilter, EntryText, PrefixMatch, TextSpan
from pgcontext.text.dates import format_timestamp
from pgcontext.text.lines import slice_characters, slice_lines

# ids


def resolve_prefixes(session: Session, prefixes: Sequence[str]) -> list[PrefixMatch]:
    """See `Store.resolve_prefixes`."""
    return [_resolve(session, prefix) for prefix in prefixes]


def _resolve(session: Session, prefix: str) -> PrefixMatch:
    ids = [entry_id for (entry_id,) in session.execute(_WITH_PREFIX, first=prefix, last=prefix.ljust(32, "f"))]
    return PrefixMatch(prefix, ids[0] if len(ids) == 1 else None, len(ids) > 1)


_WITH_PREFIX = with_rules("""
    select entry.id
    from entry
    where entry.id >= :first and entry.id <= :last and {is_readable}
    limit 2
""")

# candidates

_PIECE = 200


def list_candidates(
    session: Session,
    filter: EntryFilter,
    needles: Sequence[str],
    limit: int,
    created_before: str | None,
    id_before: str | None,
) -> list[Candidate]:
    """See `Store.list_candidates`.

    A common needle turns up among the newest entries soon enough; for a rarer one the trigrams are asked, about
    the entries before them, and only when they did not suffice.
    """
    predicate, bindings = compile_filter(filter)
    bindings["before"] = None if created_before is None else to_micros(datetime.fromisoformat(created_before))
    bindings["id_before"] = id_before
    if not needles:
        return [_candidate(*row) for row in _newest(session, predicate, bindings, limit)]
    walk = _PIECE + 4 * limit
    newest = _newest(session, predicate, bindings, walk)
    rows: list[Row] = []
    for start in range(0, len(newest), _PIECE):
        if len(rows) < limit:
            rows += _holding(session, newest[start : start + _PIECE], needles)
    if len(newest) == walk and len(rows) < limit:
        rows += _with_trigrams(session, predicate, bindings | _from_last(newest), needles)
    return [_candidate(*row) for row in rows[:limit]]


Row = tuple[str, int, str, int, int]


def _holding(session: Session, rows: Sequence[Row], needles: Sequence[str]) -> list[Row]:
    ids = to_json([row[0] for row in rows])
    holding = {entry_id for (entry_id,) in session.rows(_HOLDING, ids=ids, needles=to_json(needles))}
    return [row for row in rows if row[0] in holding]


def _from_last(rows: Sequence[Row]) -> dict[str, Value]:
    return {"before": rows[-1][-1], "id_before": rows[-1][0]}


def _newest(session: Session, predicate: str, bindings: dict[str, Value], limit: int) -> list[Row]:
    return session.rows(_CANDIDATES.replace("{filter}", predicate), limit=limit, **bindings)


def _with_trigrams(
    session: Session, predicate: str, bindings: dict[str, Value], needles: Sequence[str]
) -> list[Row]:
    """All that hold one of the needles."""
    query = _CANDIDATES.replace("{filter}", f"{predicate} and {_IN_TRIGRAMS} and {_HOLDS}")
    return session.rows(
        query, limit=-1, trigrams=" OR ".join(map(_trigrams, needles)), needles=to_json(needles), **bindings
    )


def _trigrams(needle: str) -> str:
    """The needle's trigrams as a query of FTS5."""
    places = range(len(needle) - 2)
    return "(" + " AND ".join('"' + needle[at : at + 3].replace('"', '""') + '"' for at in places) + ")"


def _candidate(entry_id: str, octets: int, visibility: str, is_owner: int, created_at: int) -> Candidate:
    return Candidate(entry_id, octets, visibility, bool(is_owner), format_timestamp(created_at))  # type: ignore[arg-type]


_CANDIDATES = with_rules("""
    select
        entry.id,
        (select octet_length(text_content) from entry_text where row_id = entry.row_id),
        entry.visibility,
        entry.owner = :principal,
        entry.created_at
    from entry
    where
        {is_readable}
        and (:before is null or (entry.created_at, entry.id) < (:before, :id_before))
        and {filter}
    order by entry.created_at desc, entry.id desc
    limit :limit
""")
_IN_TRIGRAMS = "entry.row_id in (select rowid from entry_trigram where entry_trigram match :trigrams)"
# folds as the trigram index does: A-Z, and the four other letters that are an ASCII letter in another case
_HOLDS = """exists (
    select 1
    from (
        select
            replace(replace(replace(replace(
                lower(text_content), char(0x130), 'i'), char(0x131), 'i'), char(0x17f), 's'), char(0x212a), 'k')
            as folded
        from entry_text
        where row_id = entry.row_id
        -- folded once, not for every needle
        limit 1
    )
    inner join json_each(:needles) as needle on instr(folded, needle.value) > 0
)"""
_HOLDING = f"select entry.id from entry where entry.id in (select value from json_each(:ids)) and {_HOLDS}"

# texts


def read_texts(session: Session, entry_ids: Sequence[str]) -> list[EntryText]:
    """See `Store.read_texts`."""
    found = {row[0]: EntryText(*row) for row in session.rows(_TEXTS, ids=to_json(entry_ids))}
    return in_order(entry_ids, found)


_TEXTS = with_rules("""
    select entry.id, entry_text.text_content
    from entry
    inner join entry_text on entry_text.row_id = entry.row_id
    where entry.id in (select value from json_each(:ids)) and {is_readable}
""")


def read_span(
    session: Session,
    entry_id: str,
    start_char: int | None,
    end_char: int | None,
    start_line: int | None,
    end_line: int | None,
) -> TextSpan:
    """See `Store.read_span`."""
    rows = session.rows(_TEXT_WITH_RIGHTS, id=entry_id)
    if not rows:
        raise EntryNotFound(entry_id)
    ((text, visibility, is_owner),) = rows
    if start_line is not None or end_line is not None:
        span = slice_lines(text, start_line, end_line)
    else:
        span = slice_characters(text, start_char, end_char)
    return TextSpan(
        span.start_char, span.end_char, span.start_line, span.end_line, span.text, visibility, bool(is_owner)
    )


_TEXT_WITH_RIGHTS = with_rules("""
    select entry_text.text_content, entry.visibility, entry.owner = :principal
    from entry
    inner join entry_text on entry_text.row_id = entry.row_id
    where entry.id = :id and {is_readable}
""")
