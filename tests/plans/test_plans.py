"""Hot queries use their index on 200,000 entries, as the server's role, however few of them a caller may read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from support.acting import Connection, acting_as, nested_plans, nodes, rows, watch_plans
from support.logins import person_login
from support.postgres import PostgresServer

pytestmark = pytest.mark.slow

ENTRIES = 200_000
SEED = """
insert into entry (
    id, created_at, updated_at, version, thread_id, source, content_type, visibility, owner, readers, writers,
    tags, content_hash, metadata, text_content
)
select
    overlay(md5(n::text) placing lpad(to_hex(1700000000000 + n), 12, '0') || '7' from 1 for 13)::uuid,
    timestamptz '2025-01-01' + make_interval(secs => n),
    timestamptz '2025-01-01' + make_interval(secs => n),
    1,
    'thread ' || n % 2000,
    case when n % 2 = 0 then 'user' else 'agent' end,
    'text',
    case when n % 10 = 0 then 'public' else 'private' end,
    'owner ' || n % 100,
    array['owner:owner ' || n % 100] || case when n % 10 = 0 then '{*}'::text[] else '{}' end
    || case when n % 2000 = 7 then '{user:narrow}'::text[] else '{}' end || '{group:everybody}',
    array['owner:owner ' || n % 100],
    array['tag ' || n % 500],
    '',
    jsonb_build_object(
        'status', (array['open', 'done', 'waiting'])[n % 3 + 1],
        'project', 'Project ' || n % 1000,
        'technologies', jsonb_build_array('Tool ' || n % 700),
        'references', jsonb_build_object('ticket', 'T-' || n % 5000)
    ),
    'text ' || n
from generate_series(1, %s) as n
"""

EVERYBODY = ("wide", ("everybody",))
NARROW = ("narrow", ())


@pytest.fixture(scope="module")
def seeded(postgres: PostgresServer, database: Callable[[], str]) -> Iterator[Connection]:
    """A superuser's connection, for only a superuser may watch plans; the requests run as the server's role."""
    with psycopg.connect(postgres.database(database()), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        connection.execute("alter table entry disable trigger user")
        connection.execute(SEED.replace("%s", str(ENTRIES)))
        connection.execute("alter table entry enable trigger user")
        connection.execute("select recount_threads()")
        connection.execute("vacuum analyze entry, thread_figure")
        watch_plans(connection)
        yield connection


def _plans(
    seeded: Connection, caller: tuple[str, tuple[str, ...]], query: str, *parameters: Any
) -> list[dict[str, Any]]:
    with acting_as(seeded, *caller):
        assert rows(seeded, "select current_user") == [("pgcontext_server",)]
        # no plan of an earlier call, made for somebody else, may answer
        seeded.execute("discard plans")
        return nested_plans(seeded, query, *parameters)


def _indexes(plans: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in nodes(plans) if "Index Name" in node}


def _scanned_whole(plans: list[dict[str, Any]]) -> set[str]:
    scanned = {node["Relation Name"] for node in nodes(plans) if node["Node Type"] == "Seq Scan"}
    return {relation for relation in scanned if relation.startswith("entry")}


def _search(
    seeded: Connection, caller: tuple[str, tuple[str, ...]], filter: dict[str, Any]
) -> list[dict[str, Any]]:
    return _plans(seeded, caller, "select * from search_entries(%s::jsonb)", json.dumps(filter))


def _metadata(key: str, operator: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"metadata": [{"key": key, "operator": operator, "value": value, **more}]}


def _metadata_index(seeded: Connection, field: str) -> str:
    ((name,),) = rows(
        seeded,
        "select relname from pg_class where relkind = 'i' and obj_description(oid, 'pg_class') = %s",
        field,
    )
    return str(name)


@pytest.mark.parametrize(
    "filter, index",
    [
        ({"thread_id": "thread 77"}, "entry_thread_idx"),
        ({"tags": ["tag 77"]}, "entry_tags_idx"),
        ({"created_from": "2025-01-02T00:00:00Z", "created_to": "2025-01-02T00:10:00Z"}, "entry_created_idx"),
        ({}, "entry_created_idx"),
    ],
)
def test_search_by_thread_tag_and_date_uses_its_index(
    seeded: Connection, filter: dict[str, Any], index: str
) -> None:
    plans = _search(seeded, EVERYBODY, filter)
    assert index in _indexes(plans)
    assert not _scanned_whole(plans)


@pytest.mark.parametrize(
    "field, filter",
    [
        ("project", _metadata("project", "eq", "project 77")),
        ("project", _metadata("project", "eq", "Project 77", case_sensitive=True)),
        ("project", _metadata("project", "in", ["project 77", "project 78"])),
        ("project", _metadata("project", "starts_with", "project 777")),
        ("technologies", _metadata("technologies", "array_contains", "tool 77")),
        ("technologies", _metadata("technologies", "array_contains", "Tool 77", case_sensitive=True)),
        ("references", _metadata("references.ticket", "eq", "T-77")),
    ],
)
def test_search_by_indexed_metadata_uses_its_index(seeded: Connection, field: str, filter: dict[str, Any]) -> None:
    plans = _search(seeded, EVERYBODY, filter)
    assert _metadata_index(seeded, field) in _indexes(plans)
    assert not _scanned_whole(plans)


def test_a_common_value_is_found_by_walking_back_from_the_newest(seeded: Connection) -> None:
    """A third of all entries is done; fetching them all to sort them would cost a thousand times a page."""
    plans = _search(seeded, EVERYBODY, _metadata("status", "eq", "done"))
    assert "entry_created_idx" in _indexes(plans)


def test_somebody_who_may_read_little_is_served_from_the_index_on_readers(seeded: Connection) -> None:
    with acting_as(seeded, "owner 7", ()):
        ((plan,),) = rows(seeded, "select explain_search('{}', 30, 0)")
    assert "Seq Scan" not in plan
    plans = _search(seeded, ("nobody in particular", ("small group",)), _metadata("project", "eq", "project 77"))
    assert not _scanned_whole(plans)


@pytest.mark.parametrize("caller", [EVERYBODY, NARROW])
def test_an_id_prefix_is_a_range_of_the_primary_key(
    seeded: Connection, caller: tuple[str, tuple[str, ...]]
) -> None:
    plans = _plans(seeded, caller, "select * from resolve_prefixes(array['018bcfe56807', '018bcfe5'])")
    assert "entry_pkey" in _indexes(plans)
    assert not _scanned_whole(plans)


def test_entries_are_read_and_locked_by_key(seeded: Connection) -> None:
    ids = [str(row[0]) for row in rows(seeded, "select id from entry limit 10")]
    for query in ("select * from get_entries(%s::uuid[])", "select lock_entries(%s::uuid[])"):
        plans = _plans(seeded, EVERYBODY, query, ids)
        assert "entry_pkey" in _indexes(plans)
        assert not _scanned_whole(plans)


STORE = "select * from store_entries(%s::jsonb)"
IN_THREAD = json.dumps([{"thread_id": "thread 77", "source": "user", "text": "new"}])


def test_a_store_looks_for_its_predecessor_by_thread(seeded: Connection) -> None:
    plans = _plans(seeded, EVERYBODY, STORE, IN_THREAD)
    assert "entry_owner_idx" in _indexes(plans)
    assert "entry_readers_idx" not in _indexes(plans)
    assert not _scanned_whole(plans) & {"entry"}


def test_a_repeated_store_takes_no_time_over_what_others_keep_in_the_thread(seeded: Connection) -> None:
    """A hundred hidden entries lie in this thread; how long a store takes must not tell."""
    with acting_as(seeded, "newcomer"):
        rows(seeded, STORE, IN_THREAD)
        repeated = rows(seeded, STORE, IN_THREAD)
        plans = nested_plans(seeded, STORE, IN_THREAD)
    assert [is_new for _, _, is_new, *_ in repeated] == [False]
    assert _touched(plans) < 20


def test_an_id_prefix_passes_by_hidden_entries(seeded: Connection) -> None:
    """These eight digits begin the ids of 65,536 entries, a tenth of which is public."""
    plans = _plans(seeded, ("newcomer", ()), "select * from resolve_prefixes(array['018bcfe5'])")
    assert _touched(plans) < 200


def _touched(plans: list[dict[str, Any]]) -> float:
    """How many entries the scans of these plans looked at, those included that a filter removed."""
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes(plans)
        if node.get("Relation Name") == "entry" and "Actual Rows" in node
    )


def test_the_page_is_cut_before_rows_are_read(seeded: Connection) -> None:
    """However many entries match, the texts of one page are fetched."""
    plans = _search(seeded, EVERYBODY, {})
    read = [
        node["Actual Rows"] * node["Actual Loops"]
        for node in nodes(plans)
        if node.get("Relation Name") == "entry" and "Actual Rows" in node
    ]
    assert all(count <= 30 for count in read)


def test_the_helpers_of_the_policies_run_once_for_a_statement(seeded: Connection) -> None:
    plans = _search(seeded, EVERYBODY, {"thread_id": "thread 77"})
    helpers = [node for node in nodes(plans) if node.get("Parent Relationship") == "InitPlan"]
    assert helpers
    conditions = json.dumps([node.get("Filter", "") for node in nodes(plans)])
    assert "current_readers" not in conditions
    assert "current_principal" not in conditions


@pytest.mark.parametrize("function", ["list_threads", "get_statistics"])
def test_counting_for_somebody_who_may_read_little_touches_little(seeded: Connection, function: str) -> None:
    plans = _plans(seeded, ("narrow reader", ("small group",)), f"select * from {function}()")
    assert not _scanned_whole(plans) - {"entry_image"}
    assert "entry_readers_idx" in _indexes(plans)


def test_listing_threads_counts_no_entry(seeded: Connection) -> None:
    """The figures of 20 own threads and of 200 public ones, of 22,000 entries; nothing is granted."""
    plans = _plans(seeded, ("owner 7", ()), "select * from list_threads()")
    read = {
        node["Relation Name"]: node["Actual Rows"] * node["Actual Loops"]
        for node in nodes(plans)
        if "Relation Name" in node and node.get("Actual Loops")
    }
    assert read["thread_figure"] > 0
    assert read.get("entry", 0) == 0


def test_a_thread_whose_ends_are_in_doubt_costs_a_few_lookups(seeded: Connection) -> None:
    with acting_as(seeded, "owner 7"):
        seeded.execute("reset role")
        seeded.execute("update thread_figure set is_exact = false where owner = 'owner 7'")
        seeded.execute("set local role pgcontext_server")
        ((threads,),) = rows(seeded, "select count(*) from list_threads()")
        plans = nested_plans(seeded, "select * from list_threads()")
    read = [node for node in nodes(plans) if node.get("Relation Name") == "entry" and node.get("Actual Loops")]
    touched = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in read
    )
    assert 0 < touched <= 4 * threads


def test_a_store_and_a_deletion_find_their_figures_by_key(seeded: Connection) -> None:
    document = json.dumps([{"thread_id": "thread 77", "source": "user", "text": "new"}])
    stored = _plans(seeded, ("owner 77", ()), "select * from store_entries(%s::jsonb)", document)
    deleted = _plans(seeded, ("owner 77", ()), "select delete_entries(p_thread_ids => array['thread 77'])")
    for plans in (stored, deleted):
        assert "thread_figure_pkey" in _indexes(plans)
        read = [node for node in nodes(plans) if node.get("Relation Name") == "thread_figure"]
        assert {node["Node Type"] for node in read} <= {"Index Scan", "Index Only Scan", "LockRows", "ModifyTable"}


# what row-level security costs at this size

SEARCHES: dict[str, dict[str, Any]] = {
    "everything": {},
    "thread": {"thread_id": "thread 77"},
    "tags": {"tags": ["tag 77"]},
    "dates": {"created_from": "2025-01-02T00:00:00Z", "created_to": "2025-01-02T00:10:00Z"},
    "metadata": _metadata("project", "eq", "project 77"),
    "metadata in an array": _metadata("technologies", "array_contains", "tool 77"),
    "metadata and thread": {"thread_id": "thread 77", **_metadata("status", "eq", "done")},
}


def _pages(seeded: Connection, caller: tuple[str, tuple[str, ...]], role: str | None, query: str) -> int:
    """How many pages a call reads, all of its functions included, under the policies or as somebody exempt."""
    with seeded.transaction(force_rollback=True):
        principal, groups = caller
        seeded.execute("select begin_request(%s, %s, p_role => %s)", (principal, list(groups), role))
        seeded.execute(query)  # type: ignore[call-overload]
        seeded.execute("discard plans")
        ((plan,),) = rows(seeded, f"explain (analyze, buffers, timing off, format json) {query}")
    return int(plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"])


@pytest.mark.parametrize("caller", [EVERYBODY, NARROW, ("owner 7", ())], ids=["wide", "narrow", "owner"])
@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_under_the_policies_reads_at_most_three_times_the_pages(
    seeded: Connection, caller: tuple[str, tuple[str, ...]], search: str
) -> None:
    """Pages are what time goes by here, and unlike time they are the same on every machine."""
    query = f"select * from pgcontext.search_entries('{json.dumps(SEARCHES[search])}')"
    bound = _pages(seeded, caller, "pgcontext_server", query)
    exempt = _pages(seeded, caller, None, query)
    assert bound <= 3 * exempt


@pytest.mark.parametrize("call", ["list_threads()", "get_statistics()", "resolve_prefixes(array['018bcfe56807'])"])
def test_counting_under_the_policies_reads_at_most_three_times_the_pages(seeded: Connection, call: str) -> None:
    query = f"select * from pgcontext.{call}"
    assert _pages(seeded, NARROW, "pgcontext_server", query) <= 3 * _pages(seeded, NARROW, None, query)


@pytest.fixture
def person(postgres: PostgresServer, seeded: Connection) -> Iterator[Connection]:
    """A person's own login on the same data, whose function calls are counted."""
    with person_login(
        postgres, seeded.info.dbname, "pgcontext_test_person", "owner 7", ("everybody",)
    ) as conninfo:
        postgres.execute("alter role pgcontext_test_person set track_functions = 'all'")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("set search_path to pgcontext")
            yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "select count(*) from entry",
        "select count(*) from entry_overview where thread_id like 'thread 1%'",
        "select * from thread_overview",
        "update entry set tags = '{}' where thread_id = 'thread 7'",
        "delete from entry where thread_id = 'thread 7'",
    ],
)
def test_the_helpers_of_the_policies_run_once_for_a_statement_of_a_person(
    seeded: Connection, person: Connection, statement: str
) -> None:
    """However many rows it passes; own_login() is at the bottom of every helper."""
    query = (
        "select sum(calls) from pg_stat_user_functions where schemaname = 'pgcontext' and funcname = 'own_login'"
    )
    seeded.execute("select pg_stat_reset()")
    with person.transaction(force_rollback=True):
        person.execute(statement)  # type: ignore[call-overload]
    person.execute("select pg_stat_force_next_flush()")
    person.execute("select 1")
    ((calls,),) = rows(seeded, query)
    assert 0 < (calls or 0) < 20


def test_a_person_reads_the_table_by_its_indexes(person: Connection) -> None:
    for condition, index in (
        ("thread_id = 'thread 77'", "entry_thread_idx"),
        ("created_at > '2025-01-03T07:00:00Z'", "entry_created_idx"),
        ("id = '018bcfe5-6807-7000-8000-000000000000'", "entry_pkey"),
    ):
        ((plan,),) = rows(person, f"explain (format json) select id from entry where {condition}")
        assert index in _indexes([plan[0]]), condition
