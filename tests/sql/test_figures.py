"""The figures of threads: what is noted is what a count over the entries gives, whoever writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parity.conftest import examples
from pgcontext.storage.postgres.installer import provision
from support.acting import Connection, acting_as, rows, store
from support.options import options_for
from support.postgres import LOGIN, OWNER, PostgresServer

PEOPLE = [("alice", ()), ("bob", ("editors",)), ("carol", ())]
COUNTED = """
    select
        thread_id, count(*), count(distinct source)::integer, count(*) filter (where content_type = 'multimodal'),
        min(created_at), max(created_at), (array_agg(id order by created_at desc, id desc))[1]
    from entry
    group by thread_id
    order by 6 desc, 7 desc
"""


@pytest.fixture(scope="module")
def name(database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def connect(postgres: PostgresServer, name: str) -> Iterator[Callable[..., Connection]]:
    """Makes connections: of the superuser, or of a login; nothing on them waits for long."""
    connections: list[Connection] = []

    def connect(user: str | None = None) -> Connection:
        connection = psycopg.connect(postgres.database(name, user), autocommit=True)
        connection.execute("set search_path to pgcontext")
        connection.execute("set lock_timeout to '5s'")
        connections.append(connection)
        return connection

    yield connect
    for connection in connections:
        connection.close()


@pytest.fixture(scope="module")
def module_operator(connect: Callable[..., Connection]) -> Connection:
    return connect()


@pytest.fixture
def operator(module_operator: Connection) -> Connection:
    """A superuser at work on empty tables."""
    module_operator.execute("delete from entry")
    return module_operator


@pytest.fixture(scope="module")
def server(connect: Callable[..., Connection]) -> Connection:
    return connect(LOGIN)


@contextmanager
def requesting(connection: Connection, principal: str) -> Iterator[None]:
    with connection.transaction():
        connection.execute("select begin_request(%s)", (principal,))
        yield


def assert_right(operator: Connection, server: Connection) -> None:
    """Everybody is shown what a count over the entries gives that the policies let through."""
    assert rows(operator, "select * from find_miscounts()") == []
    for principal, groups in PEOPLE:
        with acting_as(server, principal, groups):
            listed = rows(server, "select * from list_threads()")
            assert listed == rows(server, COUNTED)
            ((total, threads),) = rows(server, "select total_entries, total_threads from get_statistics()")
            assert (total, threads) == (sum(thread[1] for thread in listed), len(listed))


def assert_settled(operator: Connection) -> None:
    """Nothing is left of writes that met: one part for each figure, and none to be looked up."""
    assert rows(operator, "select count(*) filter (where not is_exact) from thread_figure") == [(0,)]
    keys = "select count(*), count(distinct (owner, thread_id, visibility)) from thread_figure"
    ((parts, figures),) = rows(operator, keys)
    assert parts == figures


INSERT = """
insert into entry (thread_id, source, content_type, text_content, metadata, tags, visibility, owner, created_at)
select
    't' || (n * %(step)s) %% 3,
    case when n %% %(step)s = 0 then 'user' else 'agent' end,
    case when n %% 3 = 0 then 'multimodal' else 'text' end,
    'text', '{}', '{}',
    case when n %% %(step)s > 1 then 'public' else 'private' end,
    (array['alice', 'bob', 'carol'])[n %% 3 + 1],
    timestamptz '2026-01-01' + make_interval(secs => (n * 7) %% 5)
from generate_series(1, %(count)s) as n
"""
# what is changed or deleted: a part of the entries, from one end or all over
CHOSEN = """
where id in (
    select id from entry where hashtext(id::text) %% 3 <> %(rest)s order by created_at, id limit %(count)s
)
"""
CHANGES = [
    "visibility = case visibility when 'public' then 'private' else 'public' end",
    "source = case source when 'user' then 'agent' else 'user' end, thread_id = 't1'",
    "content_type = case content_type when 'text' then 'multimodal' else 'text' end",
    "created_at = created_at + make_interval(secs => 3)",
    "created_at = timestamptz '2026-01-01'",
    "tags = array['tag'], text_content = 'other'",
]
SHARE = """
insert into entry_grant (entry_id, principal_type, principal_id, permission, granted_by, created_at)
select id, 'group', 'editors', 'read', 'x', now() from entry where owner = 'alice' on conflict do nothing
"""
statements = st.one_of(
    st.just(INSERT),
    st.just("delete from entry " + CHOSEN),
    st.sampled_from(CHANGES).map(lambda change: f"update entry set {change} {CHOSEN}"),
    st.just(SHARE),
    st.just("delete from entry where thread_id = 't1'"),
)
operations = st.tuples(
    statements,
    st.fixed_dictionaries({name: st.integers(1, 5) for name in ("step", "count", "rest")}),
    st.booleans(),
)


@pytest.mark.slow
@examples(60)
@given(sequence=st.lists(operations, min_size=3, max_size=12))
def test_figures_follow_whatever_the_operator_does(
    module_operator: Connection, server: Connection, sequence: list[tuple[str, dict[str, int], bool]]
) -> None:
    module_operator.execute("delete from entry")
    for statement, numbers, is_undone in sequence:
        with module_operator.transaction(force_rollback=is_undone):
            module_operator.execute(statement, numbers)  # type: ignore[arg-type]
            assert rows(module_operator, "select * from find_miscounts()") == []
    assert_right(module_operator, server)
    assert_settled(module_operator)


def test_one_statement_counts_many_threads(operator: Connection, server: Connection) -> None:
    operator.execute(INSERT, {"step": 4, "count": 500})
    assert_right(operator, server)
    operator.execute("update entry set visibility = 'public'")
    operator.execute("delete from entry where created_at > '2026-01-01T00:00:02Z'")
    assert_right(operator, server)
    assert_settled(operator)
    operator.execute("delete from entry")
    assert rows(operator, "select * from thread_figure") == []


def test_stores_into_one_thread_wait_for_nobody(
    operator: Connection, server: Connection, connect: Callable[..., Connection]
) -> None:
    other = connect(LOGIN)
    with requesting(server, "alice"):
        store(server, "before")
    with requesting(server, "alice"):
        store(server, "held back")
        with requesting(other, "alice"):
            store(other, "meanwhile")
        assert_right(operator, connect(LOGIN))
    assert_right(operator, server)


@pytest.mark.parametrize("ends_well", [True, False])
@pytest.mark.parametrize("deleted", ["first", "middle", "last"])
def test_what_is_deleted_beside_a_store_is_not_shown_as_first_or_last(
    operator: Connection, server: Connection, connect: Callable[..., Connection], deleted: str, ends_well: bool
) -> None:
    other, reader = connect(LOGIN), connect(LOGIN)
    with requesting(other, "alice"):
        ids = {text: store(other, text) for text in ("first", "middle", "last")}
    with server.transaction(force_rollback=not ends_well):
        server.execute("select begin_request('alice')")
        store(server, "held back")
        with requesting(other, "alice"):
            other.execute("select delete_entries(array[%s]::uuid[])", (ids.pop(deleted),))
        assert_right(operator, reader)
    assert_right(operator, reader)
    with requesting(other, "alice"):
        other.execute("select delete_entries(array[%s]::uuid[])", (ids.popitem()[1],))
    assert_right(operator, reader)
    assert_settled(operator)


def test_transactions_over_many_threads_in_opposite_orders_do_not_lock_each_other_out(
    operator: Connection, server: Connection, connect: Callable[..., Connection]
) -> None:
    other = connect(LOGIN)
    with requesting(server, "alice"):
        store(server, "one", thread_id="t1")
        store(server, "two", thread_id="t2")
    with server.transaction(), other.transaction():
        for connection in (server, other):
            connection.execute("select begin_request('alice')")
        store(server, "three", thread_id="t1")
        store(other, "four", thread_id="t2")
        store(server, "five", thread_id="t2")
        store(other, "six", thread_id="t1")
    assert_right(operator, server)


def test_figures_that_went_wrong_are_found_and_put_right(operator: Connection, server: Connection) -> None:
    with operator.transaction():
        operator.execute("alter table entry disable trigger count_added")
        operator.execute(INSERT, {"step": 5, "count": 30})
        operator.execute("alter table entry enable trigger count_added")
    ((counted, noted),) = rows(operator, "select sum(counted), sum(noted) from find_miscounts()")
    assert (counted, noted) == (30, 0)
    ((wrong,),) = rows(operator, "select recount_threads()")
    assert wrong > 0
    assert rows(operator, "select recount_threads()") == [(0,)]
    assert_right(operator, server)
    assert_settled(operator)


@pytest.mark.parametrize(
    "statement",
    [
        "select owner from thread_figure",
        "update thread_figure set entries = 0",
        "delete from thread_figure",
        "select change_figure(null, row('alice', 't', 'private', null, 1, 1, 0, now(), now(), null, true))",
        "select * from counted_figures()",
        "select * from find_miscounts()",
        "select recount_threads()",
    ],
)
def test_figures_are_nobodys_to_see_or_to_change(server: Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), acting_as(server, "alice"):
        server.execute(statement)  # type: ignore[arg-type]


def test_an_upgrade_counts_what_is_there(postgres: PostgresServer) -> None:
    name = postgres.create_database()
    options = options_for(postgres.database(name, OWNER), row_level_security=True)
    provision(options)
    with psycopg.connect(options.conninfo, autocommit=True) as owner:
        owner.execute("set search_path to pgcontext")
        _downgrade(owner)
        owner.execute("select begin_request('alice', p_role => null)")
        owner.execute(INSERT, {"step": 3, "count": 20})
        provision(options)
        assert rows(owner, "select sum(entries) from thread_figure") == [(20,)]
        assert rows(owner, "select * from find_miscounts()") == []
    postgres.drop_database(name)


def _downgrade(owner: Connection) -> None:
    """Take away what the release before had not."""
    for trigger in ("count_added", "count_changed", "count_removed"):
        owner.execute(f"drop trigger {trigger} on entry")
    owner.execute("drop table thread_figure cascade")
    owner.execute("delete from _yoyo_migration where migration_id like '0005%'")
