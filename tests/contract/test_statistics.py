"""get_statistics: what the caller may read, in figures, and the deployment as a whole."""

from __future__ import annotations

from contract.helpers import IMAGE, share
from pgcontext.storage.sqlite.store import SqliteStore
from support.options import settings_for
from support.world import World, serving

FIGURES = ("total_entries", "by_source", "by_content_type", "total_threads", "total_images", "unique_tags")
NOTHING = {
    "total_entries": 0,
    "by_source": {"user": 0, "agent": 0},
    "by_content_type": {"text": 0, "multimodal": 0},
    "total_threads": 0,
    "total_images": 0,
    "unique_tags": 0,
}


async def test_entries_threads_images_and_tags_are_counted(world: World) -> None:
    alice = world.as_("alice")
    await alice.store("one", source="user", tags=["a", "b"], images=[IMAGE, IMAGE])
    await alice.store("two", source="agent", tags=["b", "c"], thread_id="other")
    await alice.store("three", source="agent", images=[IMAGE])
    statistics = await alice.get_statistics()
    assert {name: statistics[name] for name in FIGURES} == {
        "total_entries": 3,
        "by_source": {"user": 1, "agent": 2},
        "by_content_type": {"text": 1, "multimodal": 2},
        "total_threads": 2,
        "total_images": 3,
        "unique_tags": 3,
    }


async def test_only_readable_entries_are_counted(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob", groups=("team",))
    await alice.store("hidden", thread_id="hidden", tags=["hidden"], images=[IMAGE])
    public = await alice.store("public", visibility="public", source="user", tags=["p"])
    shared = await alice.store("shared", tags=["p", "s"], images=[IMAGE])
    await share(alice, shared, "team", principal_type="group")
    statistics = await bob.get_statistics()
    assert {name: statistics[name] for name in FIGURES} == {
        "total_entries": 2,
        "by_source": {"user": 1, "agent": 1},
        "by_content_type": {"text": 1, "multimodal": 1},
        "total_threads": 1,
        "total_images": 1,
        "unique_tags": 2,
    }
    stranger = await world.as_("stranger").get_statistics()
    assert stranger["total_entries"] == 1
    await alice.update_context(context_id=public, visibility="private")
    stranger = await world.as_("stranger").get_statistics()
    assert {name: stranger[name] for name in FIGURES} == NOTHING


async def test_an_entry_shared_twice_over_counts_once(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob", groups=("red", "blue"))
    entry_id = await alice.store("shared", tags=["x"], visibility="public")
    for grantee, kind in (("bob", "user"), ("red", "group"), ("blue", "group")):
        await share(alice, entry_id, grantee, "read", kind)
        await share(alice, entry_id, grantee, "write", kind)
    assert (await bob.get_statistics())["total_entries"] == 1
    assert (await bob.list_threads())["threads"][0]["entry_count"] == 1
    assert await bob.search() == [entry_id]


async def test_the_size_of_the_database_is_that_of_the_whole_deployment(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await alice.store("x" * 1_000_000)
    own, other = (await alice.get_statistics()), (await bob.get_statistics())
    assert own["database_size_mb"] > 0
    assert own["database_size_mb"] == other["database_size_mb"]


async def test_connection_metrics_and_feature_states_are_the_same_for_everybody(world: World) -> None:
    alice, bob = world.as_("alice"), world.as_("bob")
    await alice.store("hello", tags=["x"])
    own, other = (await alice.get_statistics()), (await bob.get_statistics())
    for counted in ("embedding_count", "pending_count", "coverage_percentage"):
        assert own["semantic_search"].pop(counted) is not None
        assert other["semantic_search"].pop(counted) in (0, 100.0)
    assert (own["fts"].pop("indexed_entries"), other["fts"].pop("indexed_entries")) == (1, 0)
    rest = own.keys() - set(FIGURES) - {"connection_metrics"}
    assert own.keys() == other.keys()
    assert {name: own[name] for name in rest} == {name: other[name] for name in rest}
    assert own["connection_metrics"].keys() == other["connection_metrics"].keys()
    assert own["connection_metrics"]["backend"] == world.store.backend


async def test_every_feature_states_whether_it_is_enabled_and_available(world: World) -> None:
    statistics = await world.as_("alice").get_statistics()
    for feature in ("semantic_search", "fts", "chunking", "reranking", "summary_generation", "compression"):
        assert {"enabled", "available"} <= statistics[feature].keys(), feature
    assert {"enabled", "node_count"} <= statistics["index_tree"].keys()


async def test_a_database_in_memory_has_no_size() -> None:
    settings = settings_for()
    async with serving(settings, SqliteStore(":memory:", settings.access_policy())) as world:
        alice = world.as_("alice")
        await alice.store("hello")
        statistics = await alice.get_statistics()
    assert statistics["total_entries"] == 1
    assert "database_size_mb" not in statistics
