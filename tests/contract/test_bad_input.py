"""Input that goes wrong in practice: JSON in strings, characters without a place, names that look like syntax."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contract.helpers import IMAGE, ServeWith, grants, read, refusal, share, text_of, total_entries
from support.world import World

NAMES = (
    "a-b.c:d/e",
    "100%",
    "under_score",
    "it's",
    'double "quotes"',
    "back\\slash",
    "🙂 emoji 🧑‍🚀",
    "semi;colon -- comment",
    "$1 {0} %s :name ?",
    '["list"]',
    "null",
    "007",
    "*",
    "tab\tinside",
    "newline\ninside",
    "العربية",
    "ｆｕｌｌ",
)
UNSTORABLE = ("nul \x00 inside", "\x00", "high \ud800 surrogate", "low \udfff surrogate", "\udc00\ud800")


def encoded(value: Any, times: int = 1) -> Any:
    """A value as JSON text, encoded so many times over."""
    for _ in range(times):
        value = json.dumps(value)
    return value


@pytest.mark.parametrize("times", (1, 2))
async def test_lists_and_objects_may_be_sent_as_json_text(world: World, times: int) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(
        "hello",
        tags=encoded(["a", "b"], times),
        metadata=encoded({"n": 1, "text": '["kept"]'}, times),
        images=encoded([IMAGE], times),
    )
    entry = await read(alice, entry_id)
    assert (entry["tags"], entry["metadata"], entry["images"]) == (
        ["a", "b"],
        {"n": 1, "text": '["kept"]'},
        [IMAGE],
    )
    assert await alice.search(tags=encoded(["a"], times)) == [entry_id]
    assert await alice.search(metadata=encoded({"n": 1}, times)) == [entry_id]
    condition = {"key": "n", "operator": "in", "value": [1]}
    assert await alice.search(metadata_filters=encoded([condition], times)) == [entry_id]
    assert await alice.search(metadata_filters=[encoded(condition, times)]) == [entry_id]
    found = await alice.get_context_by_ids(context_ids=encoded([entry_id], times))
    assert [item["id"] for item in found["results"]] == [entry_id]
    await alice.update_context(
        context_id=entry_id, metadata_patch=encoded({"n": None}, times), tags=encoded([], times)
    )
    entry = await read(alice, entry_id)
    assert (entry["tags"], entry["metadata"]) == ([], {"text": '["kept"]'})
    updates = encoded([{"context_id": entry_id, "tags": ["z"]}], times)
    assert (await alice.update_context_batch(updates=updates))["succeeded"] == 1
    assert (await alice.delete_context_batch(thread_ids=encoded(["t"], times)))["deleted_count"] == 1
    entries = [encoded({"thread_id": "t", "source": "user", "text": "x", "tags": encoded(["y"])}, times)]
    stored = await alice.store_context_batch(entries=encoded(entries, times))
    assert stored["succeeded"] == 1
    assert await alice.search(tags=["y"]) == [stored["results"][0]["context_id"]]
    ids = encoded([stored["results"][0]["context_id"]], times)
    assert (await alice.delete_context(context_ids=ids))["deleted_count"] == 1


@pytest.mark.parametrize("text", ('["a"]', '{"a": 1}', '"[\\"a\\"]"', "5", "true", "null"))
async def test_a_text_that_looks_like_json_stays_that_text(world: World, text: str) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store(text, thread_id=text, tags=[text], metadata={"a": text})
    entry = await read(alice, entry_id)
    assert (entry["text_content"], entry["thread_id"], entry["tags"], entry["metadata"]) == (
        text,
        text,
        [text],
        {"a": text},
    )
    assert await alice.search(thread_id=text, tags=[text], metadata={"a": text}) == [entry_id]
    await share(alice, entry_id, text)
    assert await grants(alice, entry_id) == [("user", text, "read")]
    await alice.update_context(context_id=entry_id, text=f"{text} {text}")
    assert (await read(alice, entry_id))["text_content"] == f"{text} {text}"


@pytest.mark.parametrize("value", ('["a"', "a, b", '"a"', "5", '{"a": 1}', "null", '[["a"]]', "[1]", "", "[null]"))
async def test_json_text_of_another_kind_is_no_list_of_tags(world: World, value: str) -> None:
    alice = world.as_("alice")
    assert "tags" in await refusal(alice.store("hello", tags=value))
    assert await total_entries(alice) == 0


@pytest.mark.parametrize("value", ("{", "[1]", "5", "null", "text", '"{}', ""))
async def test_json_text_of_another_kind_is_no_metadata(world: World, value: str) -> None:
    alice = world.as_("alice")
    assert "metadata" in await refusal(alice.store("hello", metadata=value))
    assert await total_entries(alice) == 0


async def test_booleans_and_integers_may_be_sent_as_text(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", images=[IMAGE])
    found = await alice.search_context(limit="1", offset="0", include_images="true", explain_query="false")
    assert found["results"][0]["images"] == [IMAGE]
    assert "stats" not in found
    full = await alice.get_context_by_ids(context_ids=[entry_id], include_images="False")
    assert "images" not in full["results"][0]
    assert (await alice.list_threads(limit="1", offset="0"))["total_threads"] == 1
    kept = await alice.delete_context_batch(older_than_days="1", thread_ids=["t"])
    assert kept["deleted_count"] == 0


@pytest.mark.parametrize("text", UNSTORABLE, ids=ascii)
async def test_characters_that_cannot_be_stored_are_a_clear_error_and_leave_nothing(
    world: World, text: str
) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", tags=["x"])
    before = await read(alice, entry_id)
    grant = {"context_id": entry_id, "principal_type": "user", "principal_id": text, "permission": "read"}
    image = {**IMAGE, "metadata": text}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("store_context", {"thread_id": "t", "source": "user", "text": text}),
        ("store_context", {"thread_id": text, "source": "user", "text": "x"}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "x", "tags": [text]}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "x", "metadata": {"a": [{"b": text}]}}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "x", "metadata": encoded({text: 1})}),
        ("store_context", {"thread_id": "t", "source": "user", "text": "x", "images": [image]}),
        ("store_context_batch", {"entries": [{"thread_id": "t", "source": "user", "text": text}]}),
        ("update_context", {"context_id": entry_id, "text": text}),
        ("update_context", {"context_id": entry_id, "metadata_patch": {"a": text}}),
        ("update_context", {"context_id": entry_id, "tags": [text]}),
        ("update_context_batch", {"updates": [{"context_id": entry_id, "metadata": {"a": text}}]}),
        ("search_context", {"thread_id": text}),
        ("search_context", {"tags": [text]}),
        ("search_context", {"start_date": text}),
        ("get_context_by_ids", {"context_ids": [text]}),
        ("delete_context", {"thread_id": text}),
        ("delete_context_batch", {"thread_ids": [text]}),
        ("share_context", grant),
        ("unshare_context", grant),
    ]
    for tool, arguments in calls:
        words = await refusal(getattr(alice, tool)(**arguments))
        assert "failed on the server" not in words, (tool, arguments)
    for filters in (
        {"metadata": {"a": text}},
        {"metadata_filters": [{"key": "a", "operator": "in", "value": [text]}]},
    ):
        assert (await alice.search_context(**filters))["error"] == "Metadata filter validation failed"
    assert await read(alice, entry_id) == before
    assert await total_entries(alice) == 1


async def test_unheard_of_names_of_parameters_and_tools_are_clear_errors(world: World) -> None:
    alice = world.as_("alice")
    for name in ("nul \x00 inside", "", " ", "🙂", "x" * 100_000, "store_context ", "STORE_CONTEXT"):
        for result in (await alice.call("list_threads", **{name: 1}), await alice.call(name)):
            assert result.is_error
            assert len(text_of(result)) < 300
    assert await total_entries(alice) == 0


async def test_numbers_that_are_none_are_refused_in_metadata(world: World) -> None:
    alice = world.as_("alice")
    entry_id = await alice.store("hello", metadata={"a": 1})
    # clients cannot write these numbers but in text
    for number in ("NaN", "Infinity", "-Infinity", "1e999", str(10**400)):
        for metadata in (f'{{"a": {number}}}', f'{{"a": [{{"b": {number}}}]}}'):
            assert "metadata" in await refusal(alice.store("another", metadata=metadata))
            assert "metadata_patch" in await refusal(
                alice.update_context(context_id=entry_id, metadata_patch=metadata)
            )
        for value in (number, f"[{number}]"):
            condition = f'[{{"key": "a", "operator": "{"in" if "[" in value else "gt"}", "value": {value}}}]'
            found = await alice.search_context(metadata_filters=condition)
            assert found["error"] == "Metadata filter validation failed"
    assert (await read(alice, entry_id))["metadata"] == {"a": 1}
    assert await total_entries(alice) == 1


async def test_metadata_nested_without_end_is_a_clear_error(world: World) -> None:
    alice = world.as_("alice")
    nested: Any = 1
    for _ in range(200):
        nested = {"a": nested}
    assert "metadata" in await refusal(alice.store("hello", metadata=nested))
    text = '{"a":' * 50_000 + "1" + "}" * 50_000
    assert "metadata" in await refusal(alice.store("hello", metadata=text))
    assert "tags" in await refusal(alice.store("hello", tags="[" * 50_000 + "]" * 50_000))
    assert await total_entries(alice) == 0


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.encode("unicode_escape").decode())
async def test_any_name_works_for_threads_tags_principals_groups_and_values(world: World, name: str) -> None:
    owner = world.as_(name)
    member = world.as_("member", groups=(name,))
    entry_id = await owner.store(name, thread_id=name, tags=[name], metadata={"status": name, name: name})
    entry = await read(owner, entry_id)
    assert (entry["text_content"], entry["thread_id"], entry["metadata"]) == (
        name,
        name,
        {"status": name, name: name},
    )
    assert entry["tags"] == [name.lower()]
    assert await owner.search(thread_id=name, tags=[name], metadata={"status": name}) == [entry_id]
    conditions = [
        {"key": "status", "operator": operator, "value": value, "case_sensitive": True}
        for operator, value in (("eq", name), ("contains", name), ("starts_with", name), ("in", [name]))
    ]
    assert await owner.search(metadata_filters=conditions) == [entry_id]
    await share(owner, entry_id, name, "write", "group")
    await member.update_context(context_id=entry_id, text="changed")
    assert [thread["thread_id"] for thread in (await member.list_threads())["threads"]] == [name]
    others = tuple(group for group in ("*", "%", "_", "", "member") if group != name)
    assert await world.as_("stranger", groups=others).search() == []
    assert (await owner.delete_context_batch(thread_ids=[name]))["deleted_count"] == 1


async def test_a_very_long_thread_id_is_a_length_error_wherever_it_is_given(world: World) -> None:
    alice = world.as_("alice")
    long = "x" * 10_000
    await alice.store("hello")
    for tool, arguments in (
        ("store_context", {"thread_id": long, "source": "user", "text": "x"}),
        ("search_context", {"thread_id": long}),
        ("delete_context", {"thread_id": long}),
        ("delete_context_batch", {"thread_ids": [long]}),
    ):
        assert "256" in await refusal(getattr(alice, tool)(**arguments)), tool
    assert await total_entries(alice) == 1


async def test_a_very_long_indexed_value_is_a_length_error(world: World) -> None:
    alice = world.as_("alice")
    for field in ("status", "agent_name", "task_name", "project", "report_type", "references", "technologies"):
        for value in ("x" * 10_000, ["x" * 10_000], {"a": "x" * 10_000}):
            words = await refusal(alice.store("hello", metadata={field: value}))
            assert field in words
            assert "512" in words
    assert await total_entries(alice) == 0


async def test_ten_bad_inputs_do_not_lock_out_the_eleventh_good_one(world: World) -> None:
    alice = world.as_("alice")
    for number in range(10):
        await refusal(alice.store("", tags=[" "]))
        await refusal(alice.store_context_batch(entries=[{"thread_id": "t", "source": "user", "text": "\x00"}]))
        await refusal(alice.update_context(context_id="0" * 32, text=f"text {number}"))
        await refusal(alice.search_context(limit=-number))
    entry_id = await alice.store("good")
    assert await alice.search() == [entry_id]


async def test_typed_indexed_fields_accept_what_postgresql_would_read(serve_with: ServeWith) -> None:
    accepted: dict[str, tuple[Any, ...]] = {
        "n": (5, -5, "7", " 7 ", "+7", "0x10", "0o17", "0b101", "1_000", 2**31 - 1, -(2**31), None),
        "b": (True, False, "true", "f", "YES", "of", "1", "0", 1, 0, None),
        "f": (1, 1.5, "1.5", "1e10", "-.5", None),
    }
    refused: dict[str, tuple[Any, ...]] = {
        "n": (1.5, "1.5", "", "x", "1__0", "0x", True, 2**31, -(2**31) - 1, [1], {"a": 1}, "99999999999"),
        "b": ("", "o", "maybe", 2, 1.5, "truely", [True], {"a": True}),
        "f": ("", "x", "1.5.1", True, [1.5], {"a": 1.5}, "1e999"),
    }
    async with serve_with(metadata_indexed_fields="n:integer,b:boolean,f:float,s") as world:
        alice = world.as_("alice")
        for field, values in accepted.items():
            for number, value in enumerate(values):
                entry_id = await alice.store(f"{field} {number}", metadata={field: value})
                assert (await read(alice, entry_id))["metadata"] == {field: value}
        count = await total_entries(alice)
        for field, values in refused.items():
            for value in values:
                assert field in await refusal(alice.store("refused", metadata={field: value})), (field, value)
                words = await refusal(alice.update_context(context_id=entry_id, metadata_patch={field: value}))
                assert field in words
        assert await total_entries(alice) == count
        # a stored text is no number for a filter, index or not
        condition = {"key": "n", "operator": "eq", "value": 7}
        assert await alice.search(metadata_filters=[condition]) == []
        assert len(await alice.search(metadata_filters=[condition | {"value": "7"}])) == 1
