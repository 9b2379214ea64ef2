"""The main job from start to end: three people keep a few hundred real texts in one store.

    python -m tests.e2e.main_job [sqlite] [postgresql]

Each person has a server process of their own on the same database, and talks to it over HTTP with the official
client. They store, find, read, share, change and delete; everything that comes back is compared with what it
must be. Prints a short report; the exit status is 0 when all of it was right.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client
from tests.e2e.processes import ServerProcess, ToolFailed, call
from tests.e2e.storages import BACKENDS, empty_storage
from tests.e2e.texts import Text, library_modules, licences, package_descriptions

SHOWN = 300
PAGE = 100
BATCH = 40


@dataclass
class Person:
    """Somebody with a shelf of texts, stored in a thread of the shelf's name; `ids` are in step with `texts`."""

    name: str
    shelf: str
    texts: list[Text]
    client: Client
    ids: list[str]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await call(self.client, tool, **arguments)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The error of a call that must fail."""
        try:
            await self.call(tool, **arguments)
        except ToolFailed as error:
            return str(error)
        raise AssertionError(f"{tool} by {self.name} was not refused")

    async def remove(self, tool: str, **criteria: Any) -> int:
        """Delete entries; how many were deleted."""
        return int((await self.call(tool, **criteria))["deleted_count"])

    async def find(self, **filters: Any) -> list[dict[str, Any]]:
        """All pages of a search."""
        found: list[dict[str, Any]] = []
        while True:
            page = await self.call("search_context", limit=PAGE, offset=len(found), **filters)
            found += page["results"]
            if page["count"] < PAGE:
                return found

    async def find_ids(self, **filters: Any) -> set[str]:
        """The ids that a search finds, each once."""
        ids = [entry["id"] for entry in await self.find(**filters)]
        assert len(ids) == len(set(ids))
        return set(ids)

    async def read(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Whole entries, in the order of the ids."""
        entries: list[dict[str, Any]] = []
        for begin in range(0, len(ids), BATCH):
            part = list(ids[begin : begin + BATCH])
            entries += (await self.call("get_context_by_ids", context_ids=part))["results"]
        return entries

    def selected(self, condition: Any) -> set[str]:
        """The ids of the own texts for which a condition on number and text holds."""
        pairs = enumerate(zip(self.ids, self.texts, strict=True))
        return {entry_id for number, (entry_id, text) in pairs if condition(number, text)}


def is_public(number: int, _text: Text) -> bool:
    return number % 5 == 0


def as_entry(person: Person, number: int, text: Text) -> dict[str, Any]:
    """The arguments that store a text."""
    return {
        "thread_id": person.shelf,
        "source": "user" if number % 2 else "agent",
        "text": text.text,
        "tags": [person.shelf, "long" if len(text.text) > SHOWN else "short"],
        "metadata": {"project": "main job", "title": text.title, "characters": len(text.text)},
        "visibility": "public" if is_public(number, text) else "private",
    }


async def store(person: Person) -> None:
    """The first text alone, the others in batches."""
    entries = [as_entry(person, number, text) for number, text in enumerate(person.texts)]
    person.ids.append((await person.call("store_context", **entries[0]))["context_id"])
    for begin in range(1, len(entries), BATCH):
        part = entries[begin : begin + BATCH]
        result = await person.call("store_context_batch", entries=part)
        assert result["succeeded"] == len(part)
        person.ids += [item["context_id"] for item in result["results"]]
    assert len(set(person.ids)) == len(person.texts)
    # a client that timed out and sends the same again makes no second entry
    again = await person.call("store_context", **entries[-1])
    assert again["context_id"] == person.ids[-1]


async def find(person: Person, others: Sequence[Person]) -> int:
    """By thread, tag, source and metadata: all of one's own, and of others what is public. How many were found."""
    own = await person.find(thread_id=person.shelf)
    texts = {entry_id: text.text for entry_id, text in zip(person.ids, person.texts, strict=True)}
    assert {entry["id"]: entry["text_content"] for entry in own} == {
        entry_id: text[:SHOWN] for entry_id, text in texts.items()
    }
    assert all(entry["is_text_content_truncated"] == (len(texts[entry["id"]]) > SHOWN) for entry in own)
    assert own == sorted(own, key=lambda entry: (entry["created_at"], entry["id"]), reverse=True)

    long = person.selected(lambda _, text: len(text.text) > 10_000)
    over = {"key": "characters", "operator": "gt", "value": 10_000}
    assert await person.find_ids(thread_id=person.shelf, metadata_filters=[over]) == long
    title = person.texts[-1].title
    same_title = person.selected(lambda _, text: text.title == title)
    assert await person.find_ids(thread_id=person.shelf, metadata={"title": title}) == same_title
    users = person.selected(lambda number, _: number % 2 == 1)
    assert await person.find_ids(tags=[person.shelf.upper()], source="user") == users

    for other in others:
        assert await person.find_ids(thread_id=other.shelf) == other.selected(is_public)
    everything = await person.find_ids(metadata={"project": "main job"})
    assert everything == set(person.ids).union(*(other.selected(is_public) for other in others))
    threads = (await person.call("list_threads"))["threads"]
    assert sum(thread["entry_count"] for thread in threads) == len(everything)
    assert (await person.call("get_statistics"))["total_entries"] == len(everything)
    return len(everything)


async def read(person: Person, others: Sequence[Person]) -> int:
    """Every text comes back exactly; what is private to others does not come at all. How many were read."""
    entries = await person.read(person.ids)
    assert [entry["id"] for entry in entries] == person.ids
    assert [entry["text_content"] for entry in entries] == [text.text for text in person.texts]
    assert all(entry["is_owner"] for entry in entries)
    by_prefix = await person.read([entry_id[:24] for entry_id in person.ids[:BATCH]])
    assert by_prefix == entries[:BATCH]
    for other in others:
        seen = await person.read(other.ids)
        assert [entry["id"] for entry in seen] == [
            entry_id for entry_id in other.ids if entry_id in other.selected(is_public)
        ]
        assert not any(entry["is_owner"] for entry in seen)
        entries += seen
    return len(entries)


async def share(people: Sequence[Person]) -> tuple[list[str], list[str]]:
    """The owner lets one person read and another change some private entries; the ids of both groups."""
    owner, reader, writer = people
    private = [entry_id for entry_id in owner.ids if entry_id not in owner.selected(is_public)]
    to_read, to_write = private[:10], private[10:15]
    assert await reader.read(to_read) == []
    grants = [(entry_id, reader.name, "read") for entry_id in to_read]
    grants += [(entry_id, writer.name, "write") for entry_id in to_write]
    for created in (True, False):
        for entry_id, name, permission in grants:
            answer = await owner.call(
                "share_context",
                context_id=entry_id,
                principal_type="user",
                principal_id=name,
                permission=permission,
            )
            assert answer["created"] is created
    assert [entry["id"] for entry in await reader.read(private)] == to_read
    assert [entry["id"] for entry in await writer.read(private)] == to_write
    listed = await owner.call("list_context_grants", context_id=to_write[0])
    assert [(grant["principal_id"], grant["permission"]) for grant in listed["grants"]] == [(writer.name, "write")]
    assert "Not authorized" in await reader.refused("list_context_grants", context_id=to_read[0])
    assert "not found" in await reader.refused("list_context_grants", context_id=to_write[0])
    return to_read, to_write


async def change(people: Sequence[Person], to_read: list[str], to_write: list[str]) -> None:
    """Owner and writer change entries; everybody else is refused."""
    owner, reader, writer = people
    for entry_id in to_write:
        await writer.call(
            "update_context",
            context_id=entry_id,
            text=f"Rewritten by {writer.name}",
            metadata_patch={"title": None},
        )
    for entry in await owner.read(to_write):
        assert entry["text_content"] == f"Rewritten by {writer.name}"
        assert "title" not in entry["metadata"]
        assert entry["metadata"]["project"] == "main job"
        assert entry["updated_at"] > entry["created_at"]
    updates = [{"context_id": entry_id, "tags": ["seen"]} for entry_id in to_read]
    assert (await owner.call("update_context_batch", updates=updates))["succeeded"] == len(to_read)
    assert await reader.find_ids(tags=["seen"]) == set(to_read)

    change = {"context_id": to_read[0], "text": "mine now"}
    assert "Not authorized to modify" in await reader.refused("update_context", **change)
    assert "not found" in await writer.refused("update_context", **change)
    visibility = {"context_id": to_write[0], "visibility": "public"}
    assert "Only the owner" in await writer.refused("update_context", **visibility)
    await owner.call("update_context", **visibility)
    assert len(await reader.read([to_write[0]])) == 1


async def withdraw(owner: Person, reader: Person, to_read: list[str]) -> None:
    """The owner takes a grant back."""
    grant = {"principal_type": "user", "principal_id": reader.name, "permission": "read"}
    answer = await owner.call("unshare_context", context_id=to_read[0], **grant)
    assert answer["removed"] is True
    assert [entry["id"] for entry in await reader.read(to_read)] == to_read[1:]


async def delete(people: Sequence[Person], to_write: list[str]) -> int:
    """Nobody can delete what belongs to another; each deletes everything of their own. How much was deleted."""
    owner, reader, writer = people
    refusal = await writer.refused("delete_context", context_ids=[writer.ids[0], to_write[1]])
    assert refusal.startswith("Not authorized to delete context entries")
    assert len(await writer.read([writer.ids[0], to_write[1]])) == 2

    guest = await writer.call(
        "store_context", thread_id=owner.shelf, source="agent", text="A guest in this thread"
    )
    deleted = await owner.remove("delete_context", context_ids=owner.ids[:3])
    assert await owner.read(owner.ids[:3]) == []
    deleted += await owner.remove("delete_context", thread_id=owner.shelf)
    assert len(await writer.read([guest["context_id"]])) == 1
    deleted += await reader.remove("delete_context_batch", thread_ids=[reader.shelf, owner.shelf])
    deleted += await writer.remove("delete_context_batch", thread_ids=[writer.shelf], source="user")
    deleted += await writer.remove("delete_context", thread_id=writer.shelf)
    deleted += await writer.remove("delete_context", context_ids=[guest["context_id"]])
    assert deleted == sum(len(person.ids) for person in people) + 1
    for person in people:
        assert (await person.call("list_threads"))["threads"] == []
        assert (await person.call("get_statistics"))["total_entries"] == 0
    return deleted


async def main_job(urls: dict[str, str]) -> None:
    """Everything, by the three people whose servers are at these addresses."""
    shelves = {
        "alice": ("licences", licences(80)),
        "bob": ("packages", package_descriptions(80)),
        "carol": ("python-library", library_modules(160)),
    }
    async with AsyncExitStack() as stack:
        people = []
        for name, (shelf, texts) in shelves.items():
            client = await stack.enter_async_context(Client(urls[name]))
            people.append(Person(name, shelf, texts, client, []))
        circles = [(person, [other for other in people if other is not person]) for person in people]

        clock = Clock()
        await asyncio.gather(*(store(person) for person in people))
        characters = sum(len(text.text) for person in people for text in person.texts)
        stored = ", ".join(f"{person.name} {len(person.ids)} {person.shelf}" for person in people)
        clock.report(f"stored {stored}: {characters / 1e6:.1f} million characters")
        found = await asyncio.gather(*(find(*circle) for circle in circles))
        clock.report(f"found {in_words(found)} entries by thread, tag, source and metadata")
        were_read = await asyncio.gather(*(read(*circle) for circle in circles))
        clock.report(f"read {in_words(were_read)} entries, every text exactly as it was sent")
        to_read, to_write = await share(people)
        clock.report(f"shared {len(to_read)} entries for reading and {len(to_write)} for writing")
        await change(people, to_read, to_write)
        clock.report("changed shared entries as owner and as grantee; others were refused")
        await withdraw(people[0], people[1], to_read)
        deleted = await delete(people, to_write)
        clock.report(f"took a grant back and deleted all {deleted} entries, nobody those of another")


def in_words(figures: Sequence[int]) -> str:
    """Three figures, one per person."""
    return f"{figures[0]}, {figures[1]} and {figures[2]}"


class Clock:
    """Prints what was done and how long it took since the line before."""

    def __init__(self) -> None:
        self._begin = time.monotonic()

    def report(self, line: str) -> None:
        now = time.monotonic()
        print(f"  {now - self._begin:5.1f} s  {line}", flush=True)
        self._begin = now


def run(backend: str) -> None:
    """The main job on one backend, with three server processes."""
    print(f"{backend}:", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgcontext-main-job-")))
        storage = stack.enter_context(empty_storage(backend, folder))
        servers = {}
        for name in ("alice", "bob", "carol"):
            mine = storage.settings | {"ACCESS_CONTROL_DEFAULT_PRINCIPAL": name}
            servers[name] = stack.enter_context(ServerProcess(mine, folder))
        asyncio.run(main_job({name: server.url for name, server in servers.items()}))
        for server in servers.values():
            assert server.stop() == 0


if __name__ == "__main__":
    for chosen in sys.argv[1:] or BACKENDS:
        run(chosen)
