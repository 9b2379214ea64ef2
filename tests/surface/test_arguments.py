"""How arguments are read, and how faults are told."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from pgcontext.storage.sqlite.store import SqliteStore
from support.options import settings_for
from support.world import Person, ToolRefused, serving
from surface.another_server import Serve

ENTRY = {"thread_id": "t", "source": "user", "text": "hello"}
UNKNOWN_ID = "0190abcdef1234567890abcdef123456"


async def refusal(person: Person, tool: str, **arguments: Any) -> str:
    """The text a tool refuses a call with."""
    with pytest.raises(ToolRefused) as caught:
        await getattr(person, tool)(**arguments)
    return str(caught.value)


def encoded(value: Any, times: int) -> Any:
    for _ in range(times):
        value = json.dumps(value)
    return value


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_lists_and_objects_are_understood_as_json_text(alice: Person, times: int) -> None:
    image = {"data": "QUJD", "mime_type": "image/png"}
    entry_id = await alice.store(
        "x",
        tags=encoded(["a", "b"], times),
        metadata=encoded({"k": [1]}, times),
        images=encoded([encoded(image, times)], times),
    )
    [entry] = (await alice.get_context_by_ids(context_ids=encoded([entry_id], times)))["results"]
    assert (entry["tags"], entry["metadata"], len(entry["images"])) == (["a", "b"], {"k": [1]}, 1)
    conditions = [encoded({"key": "k", "operator": "array_contains", "value": 1}, times)]
    assert await alice.search(metadata_filters=encoded(conditions, times), tags=encoded(["a"], times)) == [
        entry_id
    ]


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_batch_items_are_understood_as_json_text_too(alice: Person, times: int) -> None:
    item = {**ENTRY, "tags": encoded(["a"], times), "metadata": encoded({"k": 1}, times)}
    stored = await alice.store_context_batch(entries=encoded([encoded(item, times)], times))
    entry_id = stored["results"][0]["context_id"]
    change = {"context_id": entry_id, "metadata_patch": encoded({"j": 2}, times)}
    await alice.update_context_batch(updates=encoded([encoded(change, times)], times))
    [entry] = await alice.get(entry_id)
    assert (entry["tags"], entry["metadata"]) == (["a"], {"k": 1, "j": 2})


@pytest.mark.parametrize("text", ['["a"]', '{"a": 1}', '"quoted"', "null", "5", "true"])
async def test_a_text_that_looks_like_json_stays_that_text(alice: Person, text: str) -> None:
    entry_id = await alice.store(text, thread_id=text, metadata={"k": text})
    [entry] = await alice.get(entry_id)
    assert (entry["text_content"], entry["thread_id"], entry["metadata"]) == (text, text, {"k": text})
    assert await alice.search(thread_id=text, metadata={"k": text}) == [entry_id]


async def test_numbers_and_booleans_are_understood_as_text(alice: Person) -> None:
    for text in ("one", "two", "three"):
        await alice.store(text)
    assert len(await alice.search(limit="2", offset="1")) == 2
    assert len(await alice.search(limit=2.0)) == 2
    for word, is_wanted in [("on", True), ("TRUE", True), (1, True), ("off", False), ("false", False), (0, False)]:
        [first, *_] = (await alice.search_context(include_images=word))["results"]
        assert ("images" in first) is is_wanted


async def test_null_means_not_given(alice: Person) -> None:
    entry_id = await alice.store("x", tags=None, images=None, metadata=None, visibility=None, deduplicate=None)
    nothing = {
        "thread_id": None,
        "tags": None,
        "limit": None,
        "offset": None,
        "metadata": None,
        "start_date": None,
    }
    assert await alice.search(**nothing) == [entry_id]
    assert "is required" in await refusal(alice, "store_context", **{**ENTRY, "text": None})
    assert "Nothing to update" in await refusal(alice, "update_context", context_id=entry_id, text=None)


@pytest.mark.parametrize(
    "tool, arguments, message",
    [
        ("search_context", {"limit": 0}, "limit: must be between 1 and 100"),
        ("search_context", {"limit": 101}, "limit: must be between 1 and 100"),
        ("search_context", {"limit": 10**30}, "limit: must be between 1 and 100"),
        ("search_context", {"limit": "ten"}, "limit: must be an integer"),
        ("search_context", {"limit": 1.5}, "limit: must be an integer"),
        ("search_context", {"limit": True}, "limit: must be an integer"),
        ("search_context", {"offset": -1}, "offset: must be between 0 and 2147483647"),
        ("search_context", {"offset": 10**30}, "offset: must be between 0 and 2147483647"),
        ("search_context", {"source": "robot"}, "source: must be 'user' or 'agent'"),
        ("search_context", {"content_type": "video"}, "content_type: must be 'text' or 'multimodal'"),
        ("search_context", {"thread_id": " "}, "thread_id: must not be blank"),
        ("search_context", {"tags": "a"}, "tags: must be a list"),
        ("search_context", {"tags": ["  "]}, "tags: a tag must not be blank"),
        ("search_context", {"tags": [1]}, "tags[0]: must be a string"),
        ("search_context", {"tags": ["x"] * 101}, "tags: must hold at most 100 items"),
        (
            "search_context",
            {"metadata": {f"k{n}": 1 for n in range(101)}},
            "metadata: must hold at most 100 items",
        ),
        ("search_context", {"metadata": [1]}, "metadata: must be an object"),
        ("search_context", {"metadata_filters": [{}] * 101}, "metadata_filters: must hold at most 100 items"),
        ("search_context", {"include_images": "perhaps"}, "include_images: must be a boolean"),
        ("search_context", {"query": "x"}, "query: is not a known parameter"),
        ("store_context", {"source": "user", "text": "x"}, "thread_id: is required"),
        ("store_context", {**ENTRY, "thread_id": "x" * 10_000}, "thread_id: must be at most 256 characters"),
        ("store_context", {**ENTRY, "thread_id": 5}, "thread_id: must be a string"),
        ("store_context", {**ENTRY, "text": 5}, "text: must be a string"),
        ("store_context", {**ENTRY, "text": " \n"}, "text: must not be empty"),
        ("store_context", {**ENTRY, "text": "a\x00"}, "text: contains a NUL character, which cannot be stored"),
        (
            "store_context",
            {**ENTRY, "tags": ["\x00"]},
            "tags: a tag contains a NUL character, which cannot be stored",
        ),
        ("store_context", {**ENTRY, "metadata": "x"}, "metadata: must be an object"),
        ("store_context", {**ENTRY, "visibility": "secret"}, "visibility: must be 'private' or 'public'"),
        ("store_context", {**ENTRY, "deduplicate": "maybe"}, "deduplicate must be a boolean"),
        ("store_context", {**ENTRY, "images": [{"mime_type": "image/png"}]}, "images[0].data: is required"),
        ("get_context_by_ids", {"context_ids": []}, "context_ids: must not be empty"),
        ("get_context_by_ids", {"context_ids": [UNKNOWN_ID] * 101}, "context_ids: must hold at most 100 items"),
        ("get_context_by_ids", {"context_ids": [12345678]}, "context_ids[0]: must be a string"),
        ("list_threads", {"limit": 0}, "limit: must be between 1 and 100"),
        ("get_statistics", {"verbose": True}, "verbose: is not a known parameter"),
        ("store_context_batch", {"entries": []}, "entries: must not be empty"),
        ("store_context_batch", {"entries": [ENTRY] * 101}, "entries: must hold at most 100 items"),
        (
            "delete_context_batch",
            {"thread_ids": ["t"], "older_than_days": 0},
            "older_than_days: must be at least 1",
        ),
    ],
)
async def test_a_fault_is_one_line_that_names_the_parameter(
    alice: Person, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert await refusal(alice, tool, **arguments) == message


async def test_all_faults_are_told_at_once(alice: Person) -> None:
    text = await refusal(alice, "store_context", source="me", text="", tags=[""], surprise=1)
    assert text.splitlines() == [
        "thread_id: is required",
        "source: must be 'user' or 'agent'",
        "text: must not be empty",
        "tags: a tag must not be blank",
        "surprise: is not a known parameter",
    ]


@pytest.mark.parametrize("date", ["2026-03-14 10:00", "20260314", "2026-W11-6", "2026-03-14T10:00:00+05:30:15", 5])
async def test_a_wrong_date_names_its_parameter_and_the_accepted_forms(alice: Person, date: Any) -> None:
    for parameter in ("start_date", "end_date"):
        text = await refusal(alice, "search_context", **{parameter: date})
        assert text.startswith(f"{parameter}: must be a date such as 2025-11-29, 2025-11-29T10:00:00")


async def test_dates_at_the_edge_of_the_calendar_have_an_answer(alice: Person) -> None:
    entry_id = await alice.store("x")
    assert await alice.search(start_date="0001-01-01T00:00:00+14:00", end_date="9999-12-31T23:59:59-14:00") == [
        entry_id
    ]
    assert await alice.search(start_date="9999-12-31") == []
    assert await alice.search(start_date="2026-02-01", end_date="2026-01-01") == []


async def test_images_are_checked(alice: Person) -> None:
    for data in ("QQ=", "Q Q=", "QQ==\n", "QQ_-", "data:image/png;base64,QQ==", "é", "QQ==QQ=="):
        text = await refusal(alice, "store_context", **ENTRY, images=[{"data": data, "mime_type": "image/png"}])
        assert text == "images[0].data: must be standard base64 without white space"
    text = await refusal(alice, "store_context", **ENTRY, images=[{"data": "", "mime_type": "image/png"}])
    assert text == "images[0].data: must not be empty"
    for kind in ("png", "text/html", "image/", "image/p ng", "IMAGE/png\n"):
        text = await refusal(alice, "store_context", **ENTRY, images=[{"data": "QQ==", "mime_type": kind}])
        assert text == "images[0].mime_type: must be an image type such as image/png"
    for metadata in ({"a": 1}, 5):
        image = {"data": "QQ==", "mime_type": "image/png", "metadata": metadata}
        assert (
            await refusal(alice, "store_context", **ENTRY, images=[image])
            == "images[0].metadata: must be a string"
        )


async def test_an_image_may_have_exactly_its_largest_size(alice: Person, serve: Serve) -> None:
    largest = {"data": base64.b64encode(bytes(2**20)).decode(), "mime_type": "image/png"}
    larger = {"data": base64.b64encode(bytes(2**20 + 1)).decode(), "mime_type": "image/png"}
    async with serve(max_image_size_mb=1, max_total_size_mb=2) as served:
        person = served.as_("alice")
        entry_id = await person.store("two", images=[largest, largest])
        assert len((await person.get(entry_id))[0]["images"]) == 2
        text = await refusal(person, "store_context", **ENTRY, images=[larger])
        assert text == "images[0].data: an image must be at most 1 MB"
        text = await refusal(person, "store_context", **ENTRY, images=[largest] * 3)
        assert text == "images: the images must be at most 2 MB together"


async def test_values_of_indexed_fields_are_checked_wherever_metadata_is_written(tmp_path: Any) -> None:
    settings = settings_for(metadata_indexed_fields="status,priority:integer")
    store = SqliteStore(
        tmp_path / "x.db", settings.access_policy(), indexed_fields=settings.metadata_indexed_fields
    )
    too_long, wrong_type = {"status": "x" * 513}, {"priority": "high"}
    long_fault = "the value of the indexed field 'status' exceeds 512 characters"
    type_fault = "the value of the indexed field 'priority' is not a valid integer"
    async with serving(settings, store) as served:
        alice = served.as_("alice")
        entry_id = await alice.store("x", metadata={"status": "x" * 512, "priority": "0x10", "free": "x" * 10_000})
        assert await refusal(alice, "store_context", **ENTRY, metadata=too_long) == f"metadata: {long_fault}"
        assert await refusal(alice, "store_context", **ENTRY, metadata=wrong_type) == f"metadata: {type_fault}"
        for form in ("metadata", "metadata_patch"):
            text = await refusal(
                alice, "update_context", context_id=entry_id, **{form: {**too_long, **wrong_type}}
            )
            assert text == f"{form}: {long_fault}; {type_fault}"
            text = await refusal(
                alice, "update_context_batch", updates=[{"context_id": entry_id, form: wrong_type}]
            )
            assert text == f"{form}: {type_fault} at index 0"
        await alice.update_context(context_id=entry_id, metadata_patch={"priority": None})
        assert "priority" not in (await alice.get(entry_id))[0]["metadata"]


async def test_ten_bad_inputs_in_a_row_never_lock_out_the_good_one(alice: Person) -> None:
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    for bad in (
        {"tags": deep},
        {"metadata": {"a": deep}},
        {"metadata": "[" * 100_000},
        {"metadata": "9" * 5_000},
        {"images": "{" * 10},
        {"images": [None]},
        {"text": {"a": 1}},
        {"text": "x\x00y"},
        {"thread_id": ["t"]},
        {"": 1},
    ):
        await refusal(alice, "store_context", **{**ENTRY, **bad})
    assert (await alice.store_context(**ENTRY))["success"]
    assert (await alice.get_statistics())["total_entries"] == 1


async def test_an_unknown_tool_is_a_tool_error(alice: Person) -> None:
    assert await refusal(alice, "drop_everything") == "There is no tool called drop_everything"


@pytest.mark.parametrize("name", ["a-b.c:d/e%f_g'h", "😀 smile", "Ünï/cødé", "../..", "x" * 256])
async def test_names_with_special_characters_work_everywhere(alice: Person, name: str) -> None:
    entry_id = await alice.store("x", thread_id=name, tags=[name[:128]])
    assert await alice.search(thread_id=name, tags=[name[:128]]) == [entry_id]
    grant = {"context_id": entry_id, "principal_type": "group", "principal_id": name, "permission": "read"}
    await alice.share_context(**grant)
    assert (await alice.list_context_grants(context_id=entry_id))["grants"][0]["principal_id"] == name
    assert (await alice.list_threads())["threads"][0]["thread_id"] == name
    assert (await alice.delete_context(thread_id=name))["deleted_count"] == 1
