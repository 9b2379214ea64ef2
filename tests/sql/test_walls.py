"""Row-level security and the identity of a request, as somebody with a database login meets them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import psycopg
import pytest

from support.acting import Connection, acting_as, rows, store
from support.postgres import LOGIN, PASSWORD, PostgresServer

ANALYST = "pgcontext_test_analyst"


@pytest.fixture(scope="module")
def name(postgres: PostgresServer, database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def server(postgres: PostgresServer, name: str) -> Iterator[Connection]:
    """A connection of the server's login."""
    with psycopg.connect(postgres.database(name, LOGIN), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def analyst(postgres: PostgresServer, name: str) -> Iterator[Connection]:
    """A connection of a login that is no member of the server's role but was granted everything it has."""
    postgres.execute(f"create role {ANALYST} login password '{PASSWORD}'")
    postgres.execute(f"grant usage on schema pgcontext to {ANALYST}", name)
    postgres.execute(
        f"grant select on pgcontext.entry, pgcontext.entry_grant, pgcontext.entry_image to {ANALYST}", name
    )
    postgres.execute(f"grant execute on all functions in schema pgcontext to {ANALYST}", name)
    postgres.execute(f"grant select on pgcontext.setting to {ANALYST}", name)
    with psycopg.connect(
        psycopg.conninfo.make_conninfo(postgres.dsn, dbname=name, user=ANALYST, password=PASSWORD), autocommit=True
    ) as connection:
        yield connection
    postgres.execute(f"drop owned by {ANALYST}", name)
    postgres.execute(f"drop role {ANALYST}")


@pytest.fixture
def stored(server: Connection) -> Iterator[str]:
    """A private entry of Alice's with an image and a grant to a group; its id."""
    with server.transaction(), server.transaction():
        server.execute("select pgcontext.begin_request('alice')")
        image = {"data": "aGk=", "mime_type": "image/png"}
        entry_id = store(server, "the secret of alice", thread_id="alices", tags=["secret"], images=[image])
        server.execute("select pgcontext.share_entry(%s, 'group', 'friends', 'read')", (entry_id,))
    yield entry_id
    with server.transaction():
        server.execute("select pgcontext.begin_request('alice')")
        server.execute("select pgcontext.delete_entries(array[%s]::uuid[])", (entry_id,))


def test_without_a_principal_there_are_no_rows(server: Connection, stored: str) -> None:
    for table in ("entry", "entry_grant", "entry_image"):
        assert rows(server, f"select count(*) from pgcontext.{table}") == [(0,)]
    assert rows(server, "select * from pgcontext.search_entries()") == []


def test_the_principal_ends_with_the_transaction(server: Connection, stored: str) -> None:
    """A setting that was local to a transaction reads as empty afterwards, not as null."""
    with server.transaction():
        server.execute("select pgcontext.begin_request('alice')")
        assert rows(server, "select count(*) from pgcontext.entry") == [(1,)]
    assert rows(server, "select pgcontext.current_principal()") == [(None,)]
    assert rows(server, "select count(*) from pgcontext.entry") == [(0,)]


def test_a_request_needs_a_principal(server: Connection) -> None:
    for principal in ("", None):
        with pytest.raises(psycopg.Error) as refusal:
            server.execute("select pgcontext.begin_request(%s)", (principal,))
        assert refusal.value.sqlstate == "PC001"


def test_tables_show_what_the_functions_show(server: Connection, stored: str) -> None:
    for person, groups, expected in (("alice", (), 1), ("bob", (), 0), ("bob", ("friends",), 1)):
        with acting_as(server, person, groups):
            for table in ("entry", "entry_image", "entry_overview", "thread_overview", "tag_overview"):
                assert rows(server, f"select count(*) from {table}") == [(expected,)]
            assert len(rows(server, "select * from search_entries()")) == expected


def test_only_the_owner_sees_grants(server: Connection, stored: str) -> None:
    with acting_as(server, "bob", ("friends",)):
        assert rows(server, "select count(*) from entry_grant") == [(0,)]
    with acting_as(server, "alice"):
        assert rows(server, "select principal_id from entry_grant") == [("friends",)]


@pytest.mark.parametrize(
    "statement",
    [
        "update entry set text_content = 'changed'",
        "delete from entry",
        "delete from entry_image",
        "delete from entry_grant",
    ],
)
def test_the_policies_stop_changes_past_the_functions(server: Connection, stored: str, statement: str) -> None:
    with acting_as(server, "bob", ("friends",)):
        assert server.execute(statement).rowcount == 0  # type: ignore[call-overload]


def test_an_entry_cannot_be_given_to_somebody_else(server: Connection) -> None:
    with acting_as(server, "bob"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.execute(
            "insert into entry (id, created_at, updated_at, version, thread_id, source, content_type, visibility, "
            "tags, metadata, text_content, owner) values (new_entry_id(), now(), now(), 1, 't', 'user', 'text', "
            "'private', '{}', '{}', 'forged', 'alice')"
        )


def test_an_image_cannot_be_slipped_into_a_foreign_entry(server: Connection, stored: str) -> None:
    with acting_as(server, "bob", ("friends",)), pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.execute("insert into entry_image values (%s, 7, 'x', 'image/png')", (stored,))


def test_a_grant_cannot_be_slipped_into_a_foreign_entry(server: Connection, stored: str) -> None:
    with acting_as(server, "bob", ("friends",)), pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.execute(
            "insert into entry_grant (entry_id, principal_type, principal_id, permission, granted_by, created_at) "
            "values (%s, 'user', 'bob', 'write', 'alice', now())",
            (stored,),
        )


def test_a_write_grantee_cannot_publish_past_the_functions(server: Connection, stored: str) -> None:
    with server.transaction(force_rollback=True):
        server.execute("select pgcontext.begin_request('alice')")
        server.execute("select pgcontext.share_entry(%s, 'user', 'bob', 'write')", (stored,))
        server.execute("select pgcontext.begin_request('bob')")
        with pytest.raises(psycopg.Error) as refusal, server.transaction():
            server.execute("update pgcontext.entry set visibility = 'public' where id = %s", (stored,))
        assert refusal.value.sqlstate == "PC012"


def test_forged_settings_make_nobody_else_of_a_login(analyst: Connection, stored: str) -> None:
    """Identity comes from the settings only for logins that may speak for others."""
    with analyst.transaction(force_rollback=True):
        for setting, value in (
            ("principal", "alice"),
            ("groups", "{friends}"),
            ("roles", "{admin}"),
            ("readers", "{*,user:alice,group:friends}"),
        ):
            analyst.execute("select set_config(%s, %s, false)", (f"pgcontext.{setting}", value))
        assert rows(analyst, "select pgcontext.current_principal()") == [(ANALYST,)]
        assert rows(analyst, "select count(*) from pgcontext.entry") == [(0,)]
        assert rows(analyst, "select * from pgcontext.search_entries()") == []
        assert rows(analyst, "select * from pgcontext.get_entries(array[%s]::uuid[])", stored) == []


def test_a_login_that_may_not_speak_for_others_cannot_begin_a_request(analyst: Connection) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst.execute("select pgcontext.begin_request('alice')")


def test_an_analyst_reads_what_was_shared_with_that_login(
    server: Connection, analyst: Connection, stored: str
) -> None:
    with server.transaction():
        server.execute("select pgcontext.begin_request('alice')")
        server.execute("select pgcontext.share_entry(%s, 'user', %s, 'read')", (stored, ANALYST))
    assert rows(analyst, "select text_content from pgcontext.entry") == [("the secret of alice",)]


def test_no_function_shows_anything_of_a_hidden_entry(server: Connection, stored: str) -> None:
    """Every function, called as a stranger with all that is Alice's: ids, names, thread, tag."""
    calls = {
        "batch_failure": None,
        "begin_request": None,
        "raise_error": None,
        "delete_entries": ("array[%(id)s]::uuid[]",),
        "find_deletable": ("array[%(id)s]::uuid[]", "null", "null", "null"),
        "find_repeated_entry": ("'alices'", "'agent'", "'the secret of alice'"),
        "get_entry_rights": ("array[%(id)s]::uuid[]",),
        "get_entries": ("array[%(id)s]::uuid[]",),
        "has_images": ("%(id)s", "'[]'"),
        "list_images": ("array[%(id)s]::uuid[]",),
        "may_change_entry": ("%(id)s",),
        "resolve_prefixes": ("array[substr(replace(%(id)s, '-', ''), 1, 31)]",),
        "search_entries": ("""'{"thread_id": "alices"}'""",),
        "list_candidates": ("""'{"thread_id": "alices"}'""", "'{secret}'"),
        "find_candidates": ("""'{"tags": ["secret"]}'""", "'{}'", "10", "null", "null"),
        "read_texts": ("array[%(id)s]::uuid[]",),
        "text_beginning": ("%(id)s", "5"),
        "find_entries": ("""'{"tags": ["secret"]}'""", "10", "0"),
        "list_threads": (),
        "get_statistics": (),
    }
    nothing = {
        "delete_entries": [(0,)],
        "find_repeated_entry": [(None,)],
        "has_images": [(True,)],
        "may_change_entry": [(False,)],
        "text_beginning": [(None,)],
    }
    with acting_as(server, "mallory", ("strangers",)):
        for function, arguments in calls.items():
            if arguments is None:
                continue
            query = f"select * from {function}({', '.join(arguments)})"
            answer = server.execute(query, {"id": stored}).fetchall()  # type: ignore[call-overload]
            if function == "resolve_prefixes":
                assert [row[1:] for row in answer] == [(None, False)]
            elif function == "get_statistics":
                assert [answer[0][0], *answer[0][3:6]] == [0, 0, 0, 0]
            else:
                assert answer == nothing.get(function, []), function


@pytest.mark.parametrize(
    "call",
    [
        "share_entry(%(id)s, 'user', 'mallory', 'read')",
        "unshare_entry(%(id)s, 'group', 'friends', 'read')",
        "list_grants(%(id)s)",
        "read_span(%(id)s, 0, 10)",
        "read_span(%(id)s, null, null, 1)",
        "update_entries(jsonb_build_array(jsonb_build_object('entry_id', %(id)s::text, 'text', 'changed')))",
    ],
)
def test_a_hidden_entry_is_refused_like_a_missing_one(server: Connection, stored: str, call: str) -> None:
    answers = []
    for entry_id in (stored, "01900000-0000-7000-8000-000000000000"):
        with acting_as(server, "mallory"), pytest.raises(psycopg.Error) as refusal:
            server.execute(f"select * from {call}", {"id": entry_id})  # type: ignore[call-overload]
        detail = json.loads(refusal.value.diag.message_detail or "{}")
        del detail["entry_id"]
        answers.append((refusal.value.sqlstate, refusal.value.diag.message_primary, detail))
    assert answers[0] == answers[1]
    assert answers[0][0] == "PC010"


def test_a_plan_shows_nothing_of_hidden_entries_but_estimates(server: Connection, stored: str) -> None:
    with acting_as(server, "mallory"):
        ((plan,),) = rows(server, "select explain_search('{}', 10, 0)")
    assert "alice" not in plan
    assert "actual" not in plan


def test_writing_needs_transactions_that_see_what_others_have_stored(server: Connection) -> None:
    """With an older snapshot, two identical stores at the same moment would become two entries."""
    for level, refused in (("read committed", False), ("repeatable read", True), ("serializable", True)):
        with server.transaction(force_rollback=True):
            server.execute(f"set transaction isolation level {level}")
            server.execute("select pgcontext.begin_request('alice')")
            if not refused:
                assert store(server, "text")
                continue
            with pytest.raises(psycopg.Error) as refusal, server.transaction():
                store(server, "text")
            assert refusal.value.sqlstate == "PC031"
