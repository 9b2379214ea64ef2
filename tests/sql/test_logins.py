"""Database logins of people: whom they stand for, what they reach, and what forging gives them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from support.acting import Connection, acting_as, rows, store
from support.logins import create_login, drop_login, person_login
from support.postgres import LOGIN, OWNER, PostgresServer

BOB = "pgcontext_test_bob"
SECRET = "the secret of alice"
RELATIONS = ("entry", "entry_overview", "thread_overview", "tag_overview", "entry_grant", "entry_image")


@pytest.fixture(scope="module")
def name(database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def operator(postgres: PostgresServer, name: str) -> Iterator[Connection]:
    """A connection of the owner of the tables, who is no superuser."""
    with psycopg.connect(postgres.database(name, OWNER), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def server(postgres: PostgresServer, name: str) -> Iterator[Connection]:
    with psycopg.connect(postgres.database(name, LOGIN), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def bob_login(postgres: PostgresServer, name: str) -> Iterator[str]:
    with person_login(postgres, name, BOB, "bob", ("friends",)) as conninfo:
        yield conninfo


@pytest.fixture
def bob(bob_login: str) -> Iterator[Connection]:
    """A fresh connection of Bob's own login."""
    with psycopg.connect(bob_login, autocommit=True) as connection:
        yield connection


@pytest.fixture
def secret(operator: Connection, server: Connection) -> Iterator[str]:
    """A private entry of Alice's that is granted to others than Bob; its id."""
    operator.execute("delete from pgcontext.entry")
    with server.transaction():
        server.execute("select pgcontext.begin_request('alice')")
        image = {"data": "aGk=", "mime_type": "image/png"}
        entry_id = store(
            server, SECRET, thread_id="alices", tags=["hush"], metadata={"status": "covert"}, images=[image]
        )
        server.execute("select pgcontext.share_entry(%s, 'group', 'insiders', 'write')", (entry_id,))
    yield entry_id
    operator.execute("delete from pgcontext.entry")


def counts(connection: Connection) -> list[int]:
    return [rows(connection, f"select count(*) from pgcontext.{relation}")[0][0] for relation in RELATIONS]


# whom a login stands for


def test_a_person_is_the_principal_that_the_operator_said(bob: Connection) -> None:
    query = "select pgcontext.current_principal(), pgcontext.current_groups()"
    assert rows(bob, query) == [("bob", ["friends"])]


def test_what_was_shared_over_the_server_is_read_in_psql(server: Connection, bob: Connection, secret: str) -> None:
    assert counts(bob) == [0] * 6
    with server.transaction():
        server.execute("select pgcontext.begin_request('alice')")
        server.execute("select pgcontext.share_entry(%s, 'group', 'friends', 'read')", (secret,))
    # who holds grants is for the owner to know
    assert counts(bob) == [1, 1, 1, 1, 0, 1]
    assert rows(bob, "select text_content from pgcontext.search_entries()") == [(SECRET,)]


def test_what_is_stored_in_psql_is_the_persons_own_everywhere(
    server: Connection, bob: Connection, secret: str
) -> None:
    entry_id = store(bob, "written in psql")
    with acting_as(server, "bob"):
        assert rows(server, "select is_owner from get_entries(array[%s]::uuid[])", entry_id) == [(True,)]


def test_a_mapping_holds_from_the_next_statement_on(operator: Connection, bob: Connection, secret: str) -> None:
    bob.execute("prepare mine as select count(*) from pgcontext.entry")
    try:
        assert rows(bob, "execute mine") == [(0,)]
        operator.execute("select pgcontext.map_login(%s, 'carol', '{insiders}')", (BOB,))
        assert rows(bob, "execute mine") == [(1,)]
        assert rows(bob, "select pgcontext.current_principal()") == [("carol",)]
    finally:
        operator.execute("select pgcontext.map_login(%s, 'bob', '{friends}')", (BOB,))
    assert rows(bob, "execute mine") == [(0,)]


def test_a_login_that_is_unmapped_has_nothing_left(postgres: PostgresServer, operator: Connection) -> None:
    create_login(postgres, "pgcontext_test_leaver")
    operator.execute("select pgcontext.map_login('pgcontext_test_leaver', 'leaver')")
    assert rows(operator, "select pgcontext.unmap_login('pgcontext_test_leaver')") == [(True,)]
    assert rows(operator, "select pgcontext.unmap_login('pgcontext_test_leaver')") == [(False,)]
    # nothing holds the role back
    postgres.execute("drop role pgcontext_test_leaver")


def test_publishing_in_psql_takes_the_role_that_the_deployment_names(
    postgres: PostgresServer, name: str, operator: Connection, bob: Connection, secret: str
) -> None:
    operator.execute("insert into pgcontext.setting values ('publish_role', 'editor')")
    try:
        with pytest.raises(psycopg.Error) as refusal:
            store(bob, "for all", visibility="public")
        assert refusal.value.sqlstate == "PC003"
        operator.execute("select pgcontext.map_login(%s, 'bob', '{friends}', '{editor}')", (BOB,))
        assert store(bob, "for all", visibility="public")
    finally:
        operator.execute("delete from pgcontext.setting where name = 'publish_role'")
        operator.execute("select pgcontext.map_login(%s, 'bob', '{friends}')", (BOB,))


@pytest.mark.parametrize(
    "login, sqlstate",
    [("pgcontext_test_nobody", "PC090"), (LOGIN, "PC091"), (OWNER, "PC091"), ("postgres", "PC091")],
)
def test_only_a_login_that_speaks_for_itself_can_be_mapped(
    operator: Connection, login: str, sqlstate: str
) -> None:
    with pytest.raises(psycopg.Error) as refusal:
        operator.execute("select pgcontext.map_login(%s, 'alice')", (login,))
    assert refusal.value.sqlstate == sqlstate
    assert rows(operator, "select count(*) from pgcontext.database_login where login = %s", login) == [(0,)]


def test_a_login_that_no_policy_binds_cannot_be_mapped(postgres: PostgresServer, operator: Connection) -> None:
    create_login(postgres, "pgcontext_test_unbound", "bypassrls")
    try:
        with pytest.raises(psycopg.Error) as refusal:
            operator.execute("select pgcontext.map_login('pgcontext_test_unbound', 'alice')")
        assert refusal.value.sqlstate == "PC091"
    finally:
        postgres.execute("drop role pgcontext_test_unbound")


def test_upgrading_keeps_people_what_they_have(
    postgres: PostgresServer, name: str, bob: Connection, secret: str
) -> None:
    from pgcontext.storage.postgres.installer import provision
    from support.options import options_for

    provision(options_for(postgres.database(name, OWNER), True))
    assert rows(bob, "select pgcontext.current_principal()") == [("bob",)]
    assert rows(bob, "select * from pgcontext.search_entries()") == []


# forging


@pytest.mark.parametrize(
    "statement",
    [
        "select pgcontext.map_login(current_user, 'alice')",
        "select pgcontext.unmap_login(current_user)",
        "select pgcontext.begin_request('alice')",
        "select pgcontext.begin_request('alice', p_role => null)",
        "select pgcontext.grant_server(current_user)",
        "select * from pgcontext.explain_access(gen_random_uuid(), 'alice')",
        "select * from pgcontext.report_principals()",
        "select pgcontext.entry_readers(gen_random_uuid(), 'x', 'private')",
        "select * from pgcontext.database_login",
        f"insert into pgcontext.database_login values ('{BOB}', 'alice', '{{}}', '{{}}')",
        "update pgcontext.database_login set principal = 'alice'",
        "insert into pgcontext.setting values ('publish_role', 'x')",
        "select owner from pgcontext.entry",
        "select readers from pgcontext.entry",
        "table pgcontext.entry",
        "copy pgcontext.entry to stdout",
        "truncate pgcontext.entry_grant",
        "set role pgcontext_server",
        "set role pgcontext_reporter",
        f"set role {OWNER}",
        f"set session authorization {LOGIN}",
        "set local row_security = off; select count(*) from pgcontext.entry",
        "alter table pgcontext.entry disable row level security",
        "create policy mine on pgcontext.entry using (true)",
        "alter policy entry_read on pgcontext.entry using (true)",
        "create function pgcontext.mine() returns int language sql return 1",
        "create table pgcontext.mine (x int)",
        "create trigger mine before insert on pgcontext.entry execute function pgcontext.derive_entry()",
        "create statistics mine on thread_id, source from pgcontext.entry",
        "create index on pgcontext.entry (thread_id)",
        "create rule mine as on select to pgcontext.entry do instead select 1",
        "create or replace function pgcontext.current_principal() returns text language sql return 'alice'",
        "alter function pgcontext.current_principal() set search_path to pg_temp",
        "select lo_from_bytea(0, ''), pg_read_file('postgresql.conf')",
        "select * from pg_statistic",
        "select currtid2('pgcontext.entry', '(0,1)'::tid)",
    ],
)
def test_a_person_is_refused(bob: Connection, secret: str, statement: str) -> None:
    with pytest.raises(psycopg.Error) as refusal, bob.transaction():
        bob.execute(statement)  # type: ignore[call-overload]
    assert refusal.value.sqlstate in ("42501", "42883", "42809")
    assert SECRET not in str(refusal.value)


def test_forged_settings_make_nobody_else_of_a_person(bob: Connection, secret: str) -> None:
    for is_local in (False, True):
        with bob.transaction(force_rollback=True):
            for setting, value in (
                ("principal", "alice"),
                ("groups", "{insiders}"),
                ("roles", "{admin}"),
                ("readers", "{*,owner:alice,user:alice,group:insiders}"),
            ):
                bob.execute("select set_config(%s, %s, %s)", (f"pgcontext.{setting}", value, is_local))
            assert rows(bob, "select pgcontext.current_principal(), pgcontext.current_groups()") == [
                ("bob", ["friends"])
            ]
            assert counts(bob) == [0] * 6
            assert rows(bob, "select * from pgcontext.search_entries()") == []
            assert rows(bob, "select * from pgcontext.get_entries(array[%s]::uuid[])", secret) == []


def test_shadow_objects_deceive_no_function(bob: Connection, secret: str) -> None:
    """Temporary objects come first in a search path that does not name their schema."""
    for statement in (
        "create temp table database_login (login text, principal text, groups text[], roles text[])",
        f"insert into database_login values ('{BOB}', 'alice', '{{insiders}}', '{{admin}}')",
        "create temp table setting (name text, value text)",
        "create temp table entry_grant (entry_id uuid, principal_type text, principal_id text, permission text)",
        f"insert into entry_grant values ('{secret}', 'user', 'bob', 'write')",
        "create temp view pg_class as select 1 as oid",
        "create function pg_temp.is_trusted_session() returns boolean language sql return true",
        "create function pg_temp.current_readers() returns text[] language sql "
        "return '{*,owner:alice,group:insiders}'::text[]",
        "create function pg_temp.always(text[], text[]) returns boolean language sql return true",
        "create operator pg_temp.&& (leftarg = text[], rightarg = text[], function = pg_temp.always)",
        "set search_path to pg_temp, pgcontext, pg_catalog",
    ):
        bob.execute(statement)  # type: ignore[call-overload]
    assert rows(bob, "select pgcontext.current_principal(), pgcontext.is_trusted_session()") == [("bob", False)]
    assert counts(bob) == [0] * 6
    for call in (
        "search_entries()",
        "list_threads()",
        f"get_entries('{{{secret}}}')",
        f"get_entry_rights('{{{secret}}}')",
    ):
        assert rows(bob, f"select * from pgcontext.{call}") == []


PEEKS = {
    "notice": "public.peek({column}::text)",
    "cast": "{column}::text::integer = 0",
    "division": "1 / (length({column}::text) - length({column}::text)) = 0",
    "regular expression": "{column}::text ~ ('(' || {column}::text)",
}


@pytest.mark.parametrize("peek", PEEKS)
@pytest.mark.parametrize(
    "relation, column",
    [
        ("entry", "text_content"),
        ("entry", "metadata"),
        ("entry_overview", "beginning"),
        ("entry_image", "mime_type"),
        ("tag_overview", "tag"),
        ("thread_overview", "thread_id"),
        ("readable_entries()", "text_content"),
        ("entry_grant", "principal_id"),
    ],
)
def test_no_condition_of_a_persons_own_sees_hidden_values(
    postgres: PostgresServer, name: str, bob: Connection, secret: str, peek: str, relation: str, column: str
) -> None:
    """Neither by a function that tells what it was given, nor by an error that quotes it."""
    seen: list[str] = []
    bob.add_notice_handler(lambda notice: seen.append(str(notice.message_primary)))
    postgres.execute(f"grant create on schema public to {BOB}", name)
    bob.execute(
        "create or replace function public.peek(seen text) returns boolean language plpgsql cost 0.0000001 "
        "as $$ begin raise notice '%', seen; return true; end $$"
    )
    condition = PEEKS[peek].format(column=column)
    try:
        # a column that may not be read is refused before any row is
        rows(bob, f"select 1 from pgcontext.{relation} where {condition}")
    except psycopg.errors.InsufficientPrivilege:
        assert relation == "readable_entries()"
    finally:
        postgres.execute("drop function public.peek", name)
        postgres.execute(f"revoke create on schema public from {BOB}", name)
    assert seen == []


def test_plans_show_no_values_of_hidden_entries(bob: Connection, secret: str) -> None:
    """A plan that is run tells how many rows it passed by, which row-level security cannot hide, not what is in
    them."""
    for statement in (
        "select * from pgcontext.entry_overview where thread_id = 'alices'",
        "select * from pgcontext.search_entries()",
        "update pgcontext.entry set tags = '{}'",
    ):
        with bob.transaction(force_rollback=True):
            plan = str(rows(bob, f"explain (analyze, verbose, buffers) {statement}"))
        for value in (SECRET, "covert", "hush", "insiders"):
            assert value not in plan


def test_statistics_show_no_values_of_hidden_entries(
    postgres: PostgresServer, name: str, bob: Connection, secret: str
) -> None:
    postgres.execute("analyze pgcontext.entry", name)
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        shown = rows(bob, f"select * from {view} where schemaname = 'pgcontext'")
        assert shown == [] or not any(value in str(shown) for value in (SECRET, "covert", "hush", "alice")), view


def test_a_cursor_shows_what_its_login_may_read_however_settings_change(bob: Connection, secret: str) -> None:
    """Neither one that is read after the settings were forged, nor one that outlives its transaction."""
    with bob.transaction():
        bob.execute("declare mine cursor for select text_content from pgcontext.entry")
        bob.execute("declare held cursor with hold for select beginning from pgcontext.entry_overview")
        for setting, value in (("principal", "alice"), ("readers", "{owner:alice}")):
            bob.execute("select set_config(%s, %s, true)", (f"pgcontext.{setting}", value))
        assert rows(bob, "fetch all from mine") == []
    assert rows(bob, "fetch all from held") == []


def test_a_hidden_entry_is_told_from_a_missing_one_by_no_statement(bob: Connection, secret: str) -> None:
    grant = (
        "insert into pgcontext.entry_grant (entry_id, principal_type, principal_id, permission, granted_by, "
        "created_at) values ('{id}', 'user', '{who}', 'read', 'bob', now())"
    )
    statements = [
        grant.replace("{who}", "bob"),
        # the owner of the entry, and who holds a grant already
        grant.replace("{who}", "alice"),
        grant.replace("'user'", "'group'").replace("{who}", "insiders") + " on conflict do nothing",
        "insert into pgcontext.entry_image values ('{id}', 0, 'x', 'image/png')",
        "insert into pgcontext.entry_image values ('{id}', 0, 'x', 'image/png') on conflict do nothing",
        "update pgcontext.entry set tags = '{{}}' where id = '{id}'",
        "delete from pgcontext.entry where id = '{id}'",
        "select 1 from pgcontext.entry where id = '{id}' for update",
        "select pgcontext.lock_entries('{{{id}}}')",
        "select * from pgcontext.delete_entries('{{{id}}}')",
        "select pgcontext.share_entry('{id}', 'user', 'alice', 'read')",
        "select * from pgcontext.list_grants('{id}')",
        "select pgcontext.may_change_entry('{id}')",
        "select pgcontext.has_images('{id}', '[]')",
    ]
    missing = "01900000-0000-7000-8000-000000000000"
    for statement in statements:
        answers = []
        for entry_id in (secret, missing):
            with bob.transaction(force_rollback=True):
                try:
                    text = statement.replace("{{", "{").replace("}}", "}").replace("{id}", entry_id)
                    cursor = bob.execute(text)  # type: ignore[call-overload]
                    answer: Any = (cursor.rowcount, cursor.fetchall() if cursor.description else None)
                except psycopg.Error as error:
                    diagnostics = error.diag
                    answer = (error.sqlstate, diagnostics.message_primary, diagnostics.message_detail)
                    bob.execute("rollback")
                    bob.execute("begin")
            answers.append(json.dumps(answer).replace(entry_id, "ID").replace(entry_id.replace("-", ""), "ID"))
        assert answers[0] == answers[1], statement


# who is trusted


def test_a_login_that_may_only_hand_the_servers_role_on_is_not_trusted(
    postgres: PostgresServer, name: str, operator: Connection, secret: str
) -> None:
    """Since PostgreSQL 16 a membership can be for administration alone."""
    if operator.info.server_version < 160000:
        return
    login = "pgcontext_test_admin"
    create_login(postgres, login)
    postgres.execute(f"grant pgcontext_server to {login} with admin true, inherit false, set false")
    try:
        operator.execute("select pgcontext.map_login(%s, 'admin')", (login,))
        with psycopg.connect(postgres.database(name, login), autocommit=True) as admin:
            admin.execute("select set_config('pgcontext.principal', 'alice', false)")
            admin.execute("select set_config('pgcontext.readers', '{owner:alice}', false)")
            assert rows(admin, "select pgcontext.is_trusted_session(), pgcontext.current_principal()") == [
                (False, "admin")
            ]
            assert counts(admin) == [0] * 6
    finally:
        operator.execute("select pgcontext.unmap_login(%s)", (login,))
        drop_login(postgres, name, login)


def test_a_person_who_may_take_on_another_persons_role_stays_who_they_are(
    postgres: PostgresServer, name: str, server: Connection, bob: Connection, secret: str
) -> None:
    with person_login(postgres, name, "pgcontext_test_alice", "alice"):
        postgres.execute(f"grant pgcontext_test_alice to {BOB}")
        bob.execute("set role pgcontext_test_alice")
        assert rows(bob, "select current_user::text, pgcontext.current_principal()") == [
            ("pgcontext_test_alice", "bob")
        ]
        assert counts(bob) == [0] * 6


# every function there is

VALUES: dict[str, tuple[str, ...]] = {
    "uuid": ("'{id}'",),
    "uuid[]": ("array['{id}']::uuid[]",),
    "text": ("'{thread}'", "'{owner}'", "'{text}'"),
    "text[]": ("array['{prefix}']", "array['{thread}', '{owner}', '{tag}']"),
    "jsonb": (
        """'{{"thread_id": "{thread}"}}'""",
        """'{{"tags": ["{tag}"], "metadata": [{{"key": "status", "operator": "eq", "value": "{value}"}}]}}'""",
        """'[{{"entry_id": "{id}", "text": "x"}}]'""",
    ),
    "integer": ("5",),
    "bigint": ("5",),
    "boolean": ("false",),
    "name": ("'pgcontext_server'",),
    "oid": ("1",),
    "numeric": ("5",),
    "double precision": ("5",),
}
REAL = {"thread": "alices", "owner": "alice", "text": SECRET, "tag": "hush", "value": "covert"}
FAKE = {"thread": "zzread", "owner": "zzown", "text": "zz text of somebody", "tag": "zzta", "value": "zzvalu"}
RANDOM = {"new_entry_id"}
ECHOES = {
    "leaf_words",
    "compile_leaf",
    "analyze_text",
    "compile_query",
    "compile_word_candidates",
    "compile_word_ranking",
    "write_chunks",
    "cut_text",
}


def test_no_function_answers_differently_for_what_is_hidden_and_what_is_not_there(
    operator: Connection, bob: Connection, secret: str
) -> None:
    """Every function of the schema that reads, with all that is Alice's and with all that is nobody's."""
    functions = rows(
        operator,
        "select proname, array(select format_type(t, null) from unnest(proargtypes) as t), prokind::text, "
        "prorettype = 'trigger'::regtype from pg_proc "
        "where pronamespace = 'pgcontext'::regnamespace and provolatile <> 'i'",
    )
    assert len(functions) > 40
    real = _values(REAL, secret)
    fake = _values(FAKE, "01900000-0000-7000-8000-000000000000")
    compared = 0
    for function, types, _, is_trigger in functions:
        if is_trigger or function in RANDOM | ECHOES:
            continue
        for variant in range(3):
            choices = [VALUES.get(kind, (f"null::{kind}",)) for kind in types]
            arguments = ", ".join(values[variant % len(values)] for values in choices)
            call = f"select * from pgcontext.{function}({arguments})"
            answers = [_answer(bob, call, values) for values in (real, fake)]
            assert answers[0] == answers[1], call
            compared += 1
    assert compared > 100


def _values(names: dict[str, str], entry_id: str) -> dict[str, str]:
    digits = entry_id.replace("-", "")
    return names | {"id": entry_id, "digits": digits, "prefix": digits[:31]}


def _answer(connection: Connection, call: str, values: dict[str, str]) -> str:
    """What a call says, with the names that it was given made alike."""
    with ExitStack() as stack:
        stack.enter_context(connection.transaction(force_rollback=True))
        try:
            with connection.transaction():
                answer = str(connection.execute(call.format(**values).replace("%", "%%")).fetchall())  # type: ignore[call-overload]
        except psycopg.Error as error:
            answer = f"{error.sqlstate} {error.diag.message_primary} {error.diag.message_detail}"
    for name, value in sorted(values.items(), key=lambda item: -len(item[1])):
        answer = answer.replace(value.replace("'", "''"), name).replace(value, name)
    return answer
