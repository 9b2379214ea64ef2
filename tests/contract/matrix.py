"""The access matrix: what access_matrix.yaml says, and how to see whether a server does it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from contract.helpers import IMAGE, grants, read, share, text_of
from support.world import Person, World

MATRIX: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("access_matrix.yaml").read_text())
CALLERS: list[str] = MATRIX["callers"]
ACTIONS: dict[str, Any] = MATRIX["actions"]
GROUPS = {"read_member": ("readers",), "write_member": ("writers",)}
THREAD = "matrix thread"
TEXT = "the text of the matrix"


def person(world: World, caller: str) -> Person:
    return world.as_(caller, groups=GROUPS.get(caller, ()))


@dataclass
class Scene:
    """The entry that is acted upon, and how it was before the present action."""

    owner: Person
    id: str
    before: dict[str, Any]
    granted: list[tuple[str, str, str]]

    @classmethod
    async def set_up(cls, world: World, visibility: str, metadata: dict[str, Any] | None = None) -> Scene:
        owner = person(world, "owner")
        entry_id = await owner.store(
            TEXT,
            thread_id=THREAD,
            visibility=visibility,
            deduplicate=False,
            metadata={"status": "open"} | (metadata or {}),
            tags=["kept"],
            images=[IMAGE],
        )
        await share(owner, entry_id, "read_grantee", "read")
        await share(owner, entry_id, "write_grantee", "write")
        await share(owner, entry_id, "readers", "read", "group")
        await share(owner, entry_id, "writers", "write", "group")
        return cls(owner, entry_id, await read(owner, entry_id), await grants(owner, entry_id))

    async def entry(self) -> dict[str, Any]:
        """The entry as its owner reads it back; empty when it is gone."""
        return next(iter(await self.owner.get(self.id)), {})

    def fill(self, template: Any) -> Any:
        """The template with its placeholders filled in."""
        if isinstance(template, str):
            for name, value in (("id", self.id), ("prefix", self.id[:31]), ("thread", THREAD), ("text", TEXT)):
                template = template.replace("{" + name + "}", value)
            return template
        if isinstance(template, list):
            return [self.fill(part) for part in template]
        if isinstance(template, dict):
            return {name: self.fill(part) for name, part in template.items()}
        return template


async def observe(scene: Scene, action: dict[str, Any], caller: Person) -> str:
    """Act, and name the outcome in the words of the matrix."""
    result = await caller.call(action["tool"], **scene.fill(action["arguments"]))
    after = await scene.entry()
    granted = scene.granted
    if "share" in action["tool"]:
        granted = await grants(scene.owner, scene.id)
    text = text_of(result)
    refusal = text if result.is_error else refusal_of_item(result.structured_content)
    if refusal is None and "effect" in action and holds(action["effect"], after, granted):
        assert (after, granted) != (scene.before, scene.granted)
        scene.before, scene.granted = after, granted
        return "done"
    assert (after, granted) == (scene.before, scene.granted), "the entry changed, and not in the way it should"
    if refusal is not None:
        return name_of_refusal(refusal, scene, action, of_item=not result.is_error)
    if "effect" in action or "delete" in action["tool"]:
        return "untouched"
    if "store" in action["tool"]:
        return await place_of_store(scene, result.structured_content, caller)
    if mentions(scene, result.structured_content, caller):
        return "shown"
    return "counted" if (result.structured_content or {}).get("foreign_count") else "hidden"


def refusal_of_item(result: Any) -> str | None:
    """Why the only item of a batch failed, if it did."""
    items = result["results"] if "failed" in result else []
    if all(item["success"] for item in items):
        return None
    assert (result["success"], result["succeeded"], result["failed"]) == (False, 0, 1)
    return str(items[0]["error"])


def name_of_refusal(refusal: str, scene: Scene, action: dict[str, Any], *, of_item: bool) -> str:
    """The name of a refusal, or its words where the matrix does not know them."""
    for name, words in MATRIX["refusals"].items():
        is_said = refusal == scene.fill(words).replace("{tool}", action["tool"])
        if is_said and name.startswith("item_") == of_item:
            return str(name)
    return refusal


def holds(effect: Any, after: dict[str, Any], granted: list[tuple[str, str, str]]) -> bool:
    """Whether the effect of an action can be seen."""
    if effect == "gone" or not after:
        return effect == "gone" and not after
    if "grant" in effect:
        return tuple(effect["grant"]) in granted
    if "no_grant" in effect:
        return tuple(effect["no_grant"]) not in granted
    return all(after[name] == value for name, value in effect.items())


async def place_of_store(scene: Scene, result: Any, caller: Person) -> str:
    stored = result["results"][0] if "results" in result else result
    if stored["context_id"] == scene.id:
        return "merged"
    ((entry,), own) = (await caller.get(stored["context_id"]), await caller.search(thread_id=THREAD))
    assert entry["is_owner"]
    assert entry["visibility"] == "private"
    assert stored["context_id"] in own
    return "apart"


def mentions(scene: Scene, result: Any, caller: Person) -> bool:
    """Whether a result is about the entry; it must either tell all or show no trace at all."""
    # what was asked is repeated, a plan names its constants, and one tool counts what is to be kept
    repeated = ("thread_id", "query", "stats", "kept_count")
    trace = json.dumps({name: part for name, part in result.items() if name not in repeated})
    if "total_entries" in result:
        figures = [result[name] for name in ("total_entries", "total_threads", "total_images", "unique_tags")]
        assert figures in ([0, 0, 0, 0], [1, 1, 1, 1])
        return bool(result["total_entries"])
    if scene.id not in trace:
        assert all(word not in trace for word in (TEXT, THREAD, "kept", "readers"))
        return False
    for entry in result.get("results", ()):
        assert entry["visibility"] == scene.before["visibility"]
        assert entry["is_owner"] == (caller.principal == scene.owner.principal)
    return True
