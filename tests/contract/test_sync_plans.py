"""What holds for every plan, whatever the corpus and the manifest: random corpora of several people."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.helpers import share
from contract.test_sync import CORPUS, NOTHING, block, item, keep, plan
from support.world import Person, World

SOURCES = [
    "A",
    "a",
    "a/b",
    "b",
    " ",
    "é",
    "e\u0301",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U00010000",
    "😀",
    "😀x",
    "\U0010ffff",
]
examples = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

sources = st.sampled_from(SOURCES)
words = st.sampled_from(["one", "two"])
documents = st.fixed_dictionaries(
    {
        "owner": st.sampled_from(["alice", "alice", "bob"]),
        "source_id": sources,
        "text": words,
        "meta": words,
        "reach": st.sampled_from(["private", "private", "public", "shared"]),
        "is_valid": st.sampled_from([True, True, True, False]),
    }
)
manifests = st.lists(
    st.builds(item, sources, words, words) | st.builds(keep, sources), unique_by=lambda each: each["source_id"]
)
corpora = st.lists(documents, max_size=20)


async def fill(world: World, corpus: list[dict[str, Any]]) -> dict[str, str]:
    """Store the documents; the owner of each id."""
    owners: dict[str, str] = {}
    for document in corpus:
        parts = {} if document["is_valid"] else {"extra": "part"}
        owner = world.as_(document["owner"])
        entry_id = await owner.store(
            document["text"],
            thread_id=CORPUS,
            metadata={"ingest": block(document["source_id"], document["meta"], **parts)},
            visibility="public" if document["reach"] == "public" else "private",
            deduplicate=False,
        )
        if document["reach"] == "shared":
            await share(owner, entry_id, "bob" if document["owner"] == "alice" else "alice", "write")
        owners[entry_id] = document["owner"]
    return owners


async def apply(person: Person, manifest: list[dict[str, Any]], planned: dict[str, Any]) -> None:
    """Do what a plan says, as a sync client does it."""
    texts = {item("", text)["text_digest"]: text for text in ("one", "two")}

    def content(index: int) -> dict[str, Any]:
        described = manifest[index]
        ingest = block(described["source_id"], meta_digest=described["meta_digest"])
        return {"text": texts[described["text_digest"]], "metadata": {"ingest": ingest}}

    entries = [
        {"thread_id": CORPUS, "source": "agent", "deduplicate": False, **content(index)}
        for index in planned["creates"]
    ]
    updates = [{"context_id": update["context_id"], **content(update["index"])} for update in planned["updates"]]
    doomed = [delete["context_id"] for delete in planned["deletes"]]
    if entries:
        await person.store_context_batch(entries=entries)
    if updates:
        await person.update_context_batch(updates=updates)
    if doomed:
        deleted = await person.delete_context_batch(context_ids=doomed)
        assert deleted["deleted_count"] == planned["deletes_total"]


@examples
@given(corpus=corpora, manifest=manifests)
async def test_the_plan_of_an_applied_plan_is_empty(
    world: World, wipe: Callable[[], None], corpus: list[dict[str, Any]], manifest: list[dict[str, Any]]
) -> None:
    wipe()
    alice = world.as_("alice")
    await fill(world, corpus)
    planned = await plan(alice, *manifest)
    await apply(alice, manifest, planned)
    kept = sum("keep" in each for each in manifest)
    assert await plan(alice, *manifest) == NOTHING | {
        "unchanged_count": len(manifest) - kept,
        "kept_count": kept,
        "foreign_count": planned["foreign_count"],
    }


@examples
@given(corpus=corpora, manifest=manifests)
async def test_a_plan_never_names_an_entry_of_another_owner(
    world: World, wipe: Callable[[], None], corpus: list[dict[str, Any]], manifest: list[dict[str, Any]]
) -> None:
    wipe()
    owners = await fill(world, corpus)
    for name in ("alice", "bob", "carol"):
        planned = await plan(world.as_(name), *manifest)
        named = [entry["context_id"] for entry in (*planned["updates"], *planned["deletes"])]
        assert [owners[entry_id] for entry_id in named] == [name] * len(named)
        assert len(set(named)) == len(named)
        readable = [
            document
            for document in corpus
            if document["is_valid"]
            and document["owner"] != name
            and document["reach"] in (("public",) if name == "carol" else ("public", "shared"))
        ]
        assert planned["foreign_count"] == len(readable)


@examples
@given(corpus=corpora, manifest=manifests, cuts=st.sets(sources, max_size=4))
async def test_planning_in_consecutive_ranges_equals_planning_at_once(
    world: World,
    wipe: Callable[[], None],
    corpus: list[dict[str, Any]],
    manifest: list[dict[str, Any]],
    cuts: set[str],
) -> None:
    wipe()
    alice = world.as_("alice")
    await fill(world, corpus)
    manifest = sorted(manifest, key=lambda each: str(each["source_id"]))
    whole = await plan(alice, *manifest)
    joined: dict[str, Any] = NOTHING | {"creates": [], "updates": [], "deletes": []}
    bounds = [None, *sorted(cuts), None]
    for after, through in pairwise(bounds):
        inside = [
            index
            for index, each in enumerate(manifest)
            if (after is None or each["source_id"] > after) and (through is None or each["source_id"] <= through)
        ]
        limits = {"source_id_after": after, "source_id_through": through}
        part = await plan(alice, *(manifest[index] for index in inside), **limits)
        joined["creates"] += [inside[index] for index in part["creates"]]
        joined["updates"] += [update | {"index": inside[update["index"]]} for update in part["updates"]]
        joined["deletes"] += part["deletes"]
        for name in ("deletes_total", "unchanged_count", "kept_count", "foreign_count"):
            joined[name] += part[name]
    assert joined == whole
