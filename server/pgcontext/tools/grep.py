"""grep_context: the scan, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio

from pgcontext.contracts.navigation import GrepContext, GrepResult
from pgcontext.errors import InvalidArgument
from pgcontext.storage.values import Candidate, EntryFilter
from pgcontext.text.grep import Found, LineMatch, Outcome, Pattern, Wanted, WrongPattern, search_texts
from pgcontext.text.needles import needles_of
from pgcontext.tools.base import Tool, ToolContext
from pgcontext.tools.filtering import WrongFilters, entry_filter
from pgcontext.tools.workers import OutOfBounds, run_in_worker

_FIRST_BATCH = 10
"""Entries that are asked for first: often they hold enough matches."""

_PAGE_ENTRIES = 200
_PAGE_OCTETS = 1 << 20
_LIGHT_TEXTS = 256 * 1024
_LIGHT_STEPS = 1 << 22
"""A literal is looked for in a thread where that takes at most so many steps, however unlucky it is."""

_GRACE_S = 1.0
"""A worker ends by itself a little before it is ended."""


class _Scan:
    """One scan of the readable entries that pass a filter, newest first, within its budgets."""

    def __init__(self, context: ToolContext, request: GrepContext, filter: EntryFilter) -> None:
        settings = context.settings
        self._context = context
        self._filter = filter
        self._pattern = Pattern(request.pattern, request.is_regex, request.case_sensitive)
        self._context_lines = None
        if request.output_mode == "content":
            self._context_lines = min(request.context_lines, settings.grep_max_context_lines)
        self._entries_left = min(
            request.max_entries_scanned or settings.grep_max_entries_scanned, settings.grep_max_entries_scanned
        )
        self._octets_left = settings.grep_aggregate_bytes_budget
        self._matches_left = min(request.max_matches, settings.grep_max_matches_cap)
        self._seconds_left = settings.grep_regex_total_timeout_s
        self.is_truncated = False
        self.found: list[tuple[Candidate, Found]] = []

    async def run(self) -> None:
        """Fill `found` and `is_truncated`. Raises `WrongPattern`."""
        if self._pattern.is_regex:
            # a wrong expression is one whatever there is to look through
            await self._search([])
        needles = await self._needles()
        async for page in self._pages(needles):
            texts = await self._context.store.read_texts(
                self._context.caller, [candidate.entry_id for candidate in page]
            )
            outcome = await self._search([(text.entry_id, text.text_content) for text in texts])
            by_id = {candidate.entry_id: candidate for candidate in page}
            self.found += [(by_id[found.key], found) for found in outcome.found]
            self._matches_left -= sum(found.count for found in outcome.found)
            self.is_truncated |= outcome.is_capped or outcome.is_timed_out
            if outcome.is_capped or self._seconds_left <= 0:
                self.is_truncated = True
                return

    async def _needles(self) -> tuple[str, ...]:
        def find() -> tuple[str, ...]:
            pattern = self._pattern
            return needles_of(pattern.source, is_regex=pattern.is_regex, case_sensitive=pattern.case_sensitive)

        source = self._pattern.source
        is_quick = source.isascii() and len(source) < 1000
        return find() if is_quick else await anyio.to_thread.run_sync(find)

    async def _pages(self, needles: Sequence[str]) -> AsyncIterator[list[Candidate]]:
        """What is to be searched, in pages that fit into memory."""
        page: list[Candidate] = []
        octets = 0
        async for candidate in self._candidates(needles):
            if candidate.octets > self._octets_left:
                self.is_truncated = True
                continue
            self._octets_left -= candidate.octets
            if page and (octets + candidate.octets > _PAGE_OCTETS or len(page) == _PAGE_ENTRIES):
                yield page
                page, octets = [], 0
            page.append(candidate)
            octets += candidate.octets
        if page:
            yield page

    async def _candidates(self, needles: Sequence[str]) -> AsyncIterator[Candidate]:
        wanted = _FIRST_BATCH
        last: Candidate | None = None
        while self._entries_left:
            wanted = min(wanted, self._entries_left)
            # one more tells whether there are more
            batch = await self._context.store.list_candidates(
                self._context.caller,
                self._filter,
                needles,
                wanted + 1,
                last.created_at if last else None,
                last.entry_id if last else None,
            )
            for candidate in batch[:wanted]:
                yield candidate
            if len(batch) <= wanted:
                return
            last = batch[wanted - 1]
            self._entries_left -= wanted
            wanted = self._entries_left
        self.is_truncated = True

    async def _search(self, texts: list[tuple[str, str]]) -> Outcome:
        settings = self._context.settings
        wanted = Wanted(self._matches_left, self._context_lines, settings.grep_regex_timeout_s, self._seconds_left)
        size = sum(len(text) for _, text in texts)
        is_light = size <= _LIGHT_TEXTS and size * len(self._pattern.source) <= _LIGHT_STEPS
        if is_light and not self._pattern.is_regex:
            return await anyio.to_thread.run_sync(search_texts, self._pattern, texts, wanted)
        try:
            outcome = await run_in_worker(
                self._context.caller.id, self._seconds_left + _GRACE_S, search_texts, self._pattern, texts, wanted
            )
        except OutOfBounds:
            self._seconds_left = 0.0
            return Outcome(is_timed_out=True)
        self._seconds_left -= outcome.seconds
        return outcome


def _render(mode: str, candidate: Candidate, found: Found) -> list[dict[str, Any]]:
    entry = {"context_id": candidate.entry_id}
    access = {"visibility": candidate.visibility, "is_owner": candidate.is_owner}
    if mode == "content":
        return [entry | _render_match(match) | access for match in found.lines]
    name = "count" if mode == "count" else "match_count"
    return [entry | {name: found.count} | access]


def _render_match(match: LineMatch) -> dict[str, Any]:
    return {
        "line_number": match.line_number,
        "line": match.line,
        "match_start": match.match_start,
        "match_end": match.match_end,
        "before": match.before,
        "after": match.after,
    }


async def _grep_context(context: ToolContext, request: GrepContext) -> dict[str, Any]:
    longest = context.settings.grep_max_pattern_chars
    if len(request.pattern) > longest:
        raise InvalidArgument(f"pattern: must be at most {longest} characters")
    result: dict[str, Any] = {
        "mode": request.output_mode,
        "total_matches": 0,
        "truncated": False,
        "results": [],
    }
    try:
        scan = _Scan(context, request, entry_filter(request.filters()))
        await scan.run()
    except WrongFilters as error:
        return result | {"error": "Metadata filter validation failed", "validation_errors": error.faults}
    except WrongPattern as error:
        raise InvalidArgument(f"pattern: {error}") from None
    return result | {
        "total_matches": sum(found.count for _, found in scan.found),
        "truncated": scan.is_truncated,
        "results": [
            item for candidate, found in scan.found for item in _render(request.output_mode, candidate, found)
        ],
    }


GREP_CONTEXT = Tool(
    name="grep_context",
    description=(
        "Find exact text or a regular expression in entries, newest first, unranked. Shows which entries hold it, "
        "or with output_mode content each match with its line and the offsets that read_context_range takes. "
        "Give thread_id where you can."
    ),
    request=GrepContext,
    response=GrepResult,
    handle=_grep_context,
    feature="grep_context",
)
