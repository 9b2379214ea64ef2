"""store_context: what is kept, in which form, and what is refused."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

import pytest

from contract.helpers import IMAGE, OTHER_PIXEL, PIXEL, ServeWith, read, refusal, total_entries
from support.world import World


async def test_a_store_answers_with_the_new_id_and_its_thread(world: World) -> None:
    alice = world.as_("alice")
    stored = await alice.store_context(thread_id="project-123", source="user", text="hello")
    assert stored.keys() == {"success", "context_id", "thread_id", "message"}
    assert stored["success"] is True
    assert stored["thread_id"] == "project-123"
    assert isinstance(stored["message"], str)


async def test_an_id_is_a_uuid_of_version_7_in_32_lower_case_hex_digits(world: World) -> None:
    entry_id = await world.as_("alice").store("hello")
    assert re.fullmatch(r"[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}", entry_id)


async def test_later_entries_have_greater_ids(world: World) -> None:
    alice = world.as_("alice")
    ids = [await alice.store(f"text {number}") for number in range(20)]
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "text",
    (
        "plain",
        "line one\r\nline two\n\tindented\rthree",
        "quotes ' \" ` and backslashes \\n \\u0000",
        "emoji 🧑‍🚀, combining é, astral 𝔘, right-to-left שלום, 成语接龙",
        "%s {} $1 ; drop table entry --",
        "null",
        "\ufeffa byte order mark inside \ufeff",
        "x" * 100_000,
    ),
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
async def test_a_text_comes_back_as_it_was_sent(world: World, text: str) -> None:
    alice = world.as_("alice")
    entry = await read(alice, await alice.store(text))
    assert entry["text_content"] == text.strip()


async def test_surrounding_white_space_is_not_stored(world: World) -> None:
    alice = world.as_("alice")
    entry = await read(alice, await alice.store(" \n\t hello  world \r\n "))
    assert entry["text_content"] == "hello  world"


@pytest.mark.parametrize("text", ("", "   ", "\n\t\r\n", "\u2003\u00a0"))
async def test_an_empty_text_is_refused(world: World, text: str) -> None:
    alice = world.as_("alice")
    assert "text" in await refusal(alice.store(text))
    assert await total_entries(alice) == 0


@pytest.mark.parametrize("missing", ("thread_id", "source", "text"))
async def test_thread_source_and_text_are_required(world: World, missing: str) -> None:
    alice = world.as_("alice")
    arguments = {"thread_id": "t", "source": "user", "text": "hello"}
    del arguments[missing]
    assert missing in await refusal(alice.store_context(**arguments))
    assert await total_entries(alice) == 0


@pytest.mark.parametrize("source", ("assistant", "User", "", " user", 1))
async def test_a_source_is_user_or_agent_and_nothing_else(world: World, source: Any) -> None:
    alice = world.as_("alice")
    assert "source" in await refusal(alice.store("hello", source=source))
    assert await total_entries(alice) == 0


METADATA: list[dict[str, Any]] = [
    {},
    {"status": "done", "priority": 5, "score": 0.25, "completed": False, "draft": None},
    {"nested": {"deeper": {"deepest": [1, "two", None, {"three": 3.5}, []]}}, "empty": {}},
    {"key with spaces": "1", "ключ": "значение", "鍵": "値", "a.b": "dotted", "": "empty key", "🙂": "emoji"},
    {"int64": 2**63 - 1, "minimum": -(2**63), "beyond": 2**70, "tiny": 1e-300, "huge": 1.5e300, "minus": -0.5},
    {"text": "null", "number": "007", "quote": 'it\'s "quoted" \\ / \b\f\n\r\t'},
    {"2024_0717_150625": "a date in disguise", "1e5": "a number in disguise"},
]


@pytest.mark.parametrize("metadata", METADATA, ids=lambda metadata: next(iter(metadata), "nothing"))
async def test_metadata_of_any_shape_comes_back_unchanged(world: World, metadata: dict[str, Any]) -> None:
    alice = world.as_("alice")
    stored = (await read(alice, await alice.store("hello", metadata=metadata)))["metadata"]
    assert stored == metadata
    assert {key for key in stored if stored[key] is False} == {key for key in metadata if metadata[key] is False}


async def test_metadata_is_an_empty_object_when_none_is_given(world: World) -> None:
    alice = world.as_("alice")
    entry = await read(alice, await alice.store("hello"))
    assert entry["metadata"] == {}
    assert entry["tags"] == []
    assert entry["images"] == []


async def test_tags_are_trimmed_folded_and_each_kept_once(world: World) -> None:
    alice = world.as_("alice")
    entry = await read(alice, await alice.store("hello", tags=[" Beta ", "ALPHA", "alpha", "ÄRGER", "a b"]))
    assert entry["tags"] == sorted(["beta", "alpha", "ärger", "a b"])


@pytest.mark.parametrize("tags", (["  "], [""], ["fine", "\t"]))
async def test_a_blank_tag_is_refused(world: World, tags: list[str]) -> None:
    alice = world.as_("alice")
    assert "tag" in await refusal(alice.store("hello", tags=tags))
    assert await total_entries(alice) == 0


async def test_an_entry_has_at_most_100_tags_of_128_characters(world: World) -> None:
    alice = world.as_("alice")
    tags = [f"{number:03}".ljust(128, "é") for number in range(100)]
    assert (await read(alice, await alice.store("hello", tags=tags)))["tags"] == tags
    for wrong in ([*tags, "one more"], ["x" * 129], ["fine", "🙂" * 129]):
        assert "tag" in await refusal(alice.store("another", tags=wrong))
    assert await total_entries(alice) == 1


async def test_a_thread_id_has_at_most_256_characters(world: World) -> None:
    alice = world.as_("alice")
    thread_id = "🧵" * 256
    entry = await read(alice, await alice.store("hello", thread_id=thread_id))
    assert entry["thread_id"] == thread_id
    assert "thread_id" in await refusal(alice.store("hello", thread_id=thread_id + "x"))
    assert await total_entries(alice) == 1


async def test_a_value_under_an_indexed_field_has_at_most_512_characters(world: World) -> None:
    alice = world.as_("alice")
    fine: list[dict[str, Any]] = [
        {"status": "é" * 512},
        {"references": {"k": "x" * (512 - len('{"k":""}'))}},
        {"technologies": ["x" * 508]},
        {"notes": "x" * 100_000, "list": ["y" * 1000]},
    ]
    for number, metadata in enumerate(fine):
        await alice.store(f"fine {number}", metadata=metadata)
    wrong: list[dict[str, Any]] = [
        {"status": "é" * 513},
        {"agent_name": "x" * 10_000},
        {"status": ["x" * 510]},
        {"project": {"deep": {"deeper": "x" * 512}}},
        {"references": {"k": "x" * 512}},
        {"technologies": ["react"] * 100},
    ]
    for metadata in wrong:
        (field,) = metadata
        assert field in await refusal(alice.store("wrong", metadata=metadata))
    assert await total_entries(alice) == len(fine)


async def test_images_keep_order_bytes_type_and_metadata(world: World) -> None:
    alice = world.as_("alice")
    images = [
        {"data": PIXEL, "mime_type": "image/png", "metadata": '{"caption": "a  pixel", "n": 1.0}'},
        {"data": OTHER_PIXEL, "mime_type": "image/gif"},
        {"data": PIXEL, "mime_type": "image/png", "metadata": ""},
        {"data": PIXEL, "mime_type": "image/svg+xml", "metadata": "not json at all"},
    ]
    entry = await read(alice, await alice.store("hello", images=images))
    assert entry["images"] == images
    assert entry["content_type"] == "multimodal"


async def test_an_image_without_metadata_has_no_metadata_key(world: World) -> None:
    alice = world.as_("alice")
    images = [IMAGE, {**IMAGE, "metadata": None}]
    entry = await read(alice, await alice.store("hello", images=images))
    assert entry["images"] == [IMAGE, IMAGE]


async def test_an_entry_without_images_is_text(world: World) -> None:
    alice = world.as_("alice")
    assert (await read(alice, await alice.store("hello")))["content_type"] == "text"
    assert (await read(alice, await alice.store("other", images=[])))["content_type"] == "text"


@pytest.mark.parametrize(
    "image",
    (
        {"mime_type": "image/png"},
        {"data": PIXEL},
        {"data": "not base64!", "mime_type": "image/png"},
        {"data": PIXEL[:-1], "mime_type": "image/png"},
        {"data": "", "mime_type": "image/png"},
        {"data": PIXEL, "mime_type": "image/png", "metadata": {"an": "object"}},
        {"data": PIXEL, "mime_type": ""},
        "an image",
    ),
    ids=("no data", "no type", "no base64", "cut base64", "empty", "metadata object", "empty type", "no object"),
)
async def test_a_malformed_image_is_refused(world: World, image: Any) -> None:
    alice = world.as_("alice")
    assert "images" in await refusal(alice.store("hello", images=[image]))
    assert await total_entries(alice) == 0


async def test_an_image_or_all_images_together_can_be_too_large(serve_with: ServeWith) -> None:
    async with serve_with(max_image_size_mb=1, max_total_size_mb=2) as world:
        alice = world.as_("alice")
        megabyte = "AAAA" * (2**20 // 3) + "AA=="
        image = {"data": megabyte, "mime_type": "image/png"}
        entry = await read(alice, await alice.store("hello", images=[image]))
        assert entry["images"] == [image]
        larger = {"data": megabyte[:-4] + "AAAA", "mime_type": "image/png"}
        assert "images" in await refusal(alice.store("one", images=[larger]))
        assert "images" in await refusal(alice.store("three", images=[image, image, IMAGE]))
        assert await total_entries(alice) == 1


async def test_a_large_image_and_a_long_text_come_back_exactly(world: World) -> None:
    alice = world.as_("alice")
    data = b64encode(bytes(range(256)) * (2**20 // 256)).decode()
    text = "é🙂x " * (2**20 // 8)
    entry = await read(alice, await alice.store(text, images=[{"data": data, "mime_type": "image/png"}]))
    assert entry["images"][0]["data"] == data
    assert entry["text_content"] == text.strip()
    (found,) = (await alice.search_context())["results"]
    assert found["text_content"] == text[:300]


async def test_an_entry_is_private_unless_it_is_published(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    own = await alice.store("mine")
    private = await alice.store("also mine", visibility="private")
    public = await alice.store("ours", visibility="public")
    assert await bob.search() == [public]
    assert [entry["visibility"] for entry in await alice.get(own, private, public)] == [
        "private",
        "private",
        "public",
    ]


async def test_a_visibility_is_private_or_public_and_nothing_else(world: World) -> None:
    alice = world.as_("alice")
    assert "visibility" in await refusal(alice.store("hello", visibility="everyone"))
    assert await total_entries(alice) == 0


async def test_times_are_utc_and_equal_for_a_new_entry(world: World) -> None:
    alice = world.as_("alice")
    entry = await read(alice, await alice.store("hello"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", entry["created_at"])
    assert entry["updated_at"] == entry["created_at"]
