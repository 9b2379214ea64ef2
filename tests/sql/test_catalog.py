"""What the catalog of an installed database must say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from pgcontext.resources import resource_folder
from support.acting import Connection, rows
from support.postgres import OWNER, PostgresServer

HIDDEN_COLUMNS = {"owner", "readers", "writers"}


@pytest.fixture(scope="module")
def catalog(postgres: PostgresServer, database: Callable[[], str]) -> Iterator[Connection]:
    with psycopg.connect(postgres.database(database()), autocommit=True) as connection:
        connection.execute("set search_path to pgcontext")
        yield connection


def _functions(catalog: Connection, condition: str) -> list[str]:
    return [
        name
        for (name,) in rows(
            catalog,
            f"select proname from pg_proc where pronamespace = 'pgcontext'::regnamespace and ({condition})",
        )
    ]


def test_every_function_has_a_comment(catalog: Connection) -> None:
    assert _functions(catalog, "obj_description(oid, 'pg_proc') is null") == []


def test_every_function_is_pinned_to_its_schema(catalog: Connection) -> None:
    """A body bound when it was created, or a search path of its own: the schema, and the one of the extensions."""
    bound = "prosqlbody is not null"
    pinned = "'search_path=pgcontext, public, pg_temp' = any(proconfig)"
    assert _functions(catalog, f"({bound} or {pinned}) is not true") == []


def test_no_function_is_for_everyone(catalog: Connection) -> None:
    assert _functions(catalog, "has_function_privilege('public', oid, 'execute')") == []


def test_functions_have_one_signature_each(catalog: Connection) -> None:
    assert (
        rows(
            catalog,
            "select proname from pg_proc where pronamespace = 'pgcontext'::regnamespace "
            "group by proname having count(*) > 1",
        )
        == []
    )


def test_a_function_that_only_reads_says_so(catalog: Connection) -> None:
    volatile = set(_functions(catalog, "provolatile = 'v'"))
    reading = {
        "get_entries",
        "get_entry_rights",
        "get_statistics",
        "list_grants",
        "list_candidates",
        "list_images",
        "list_ingest_state",
        "list_threads",
        "plan_sync",
        "read_span",
        "read_texts",
        "resolve_prefixes",
        "search_entries",
    }
    assert not volatile & reading


def test_functions_that_run_as_their_owner_are_the_ones_we_know(catalog: Connection) -> None:
    """Each carries the access rule itself or reports nothing but who may, or is for reporters; adding one is a
    decision."""
    assert set(_functions(catalog, "prosecdef and not starts_with(proname, 'report_')")) == {
        "count_added",
        "count_changed",
        "derive_chunks",
        "derive_entry",
        "derive_entry_access",
        "explain_search",
        "find_candidates",
        "explain_vectors",
        "explain_words",
        "find_deletable",
        "find_entries",
        "find_managed",
        "find_previous_entries",
        "find_repeated_entry",
        "find_vector_matches",
        "find_word_matches",
        "get_entry_rights",
        "get_statistics",
        "list_threads",
        "lock_entries",
        "lock_turns",
        "may_change_entry",
        "own_grant",
        "own_login",
        "plan_sync",
        "replace_chunks",
        "resolve_prefixes",
    }


def test_only_the_reporters_role_may_call_the_reports(catalog: Connection) -> None:
    reports = _functions(catalog, "starts_with(proname, 'report_')")
    assert len(reports) == 15
    assert set(_functions(catalog, "has_function_privilege('pgcontext_reporter', oid, 'execute')")) == set(reports)
    assert not set(_functions(catalog, "has_function_privilege('pgcontext_server', oid, 'execute')")) & set(
        reports
    )


def test_the_reporters_role_may_read_no_table(catalog: Connection) -> None:
    assert (
        rows(
            catalog,
            "select relname from pg_class where relnamespace = 'pgcontext'::regnamespace "
            "and relkind in ('r', 'v', 'm', 'p') "
            "and has_any_column_privilege('pgcontext_reporter', oid, 'select')",
        )
        == []
    )


def test_what_changes_logins_grants_and_indexes_is_for_the_owner(catalog: Connection) -> None:
    """And so is what tells who else may read an entry."""
    for role in ("pgcontext_server", "pgcontext_reporter"):
        callable_ = set(_functions(catalog, f"has_function_privilege('{role}', oid, 'execute')"))
        assert not callable_ & {
            "create_metadata_index",
            "entry_readers",
            "entry_writers",
            "explain_access",
            "grant_person",
            "grant_reporter",
            "grant_server",
            "map_login",
            "sync_metadata_indexes",
            "unmap_login",
        }


def test_views_show_what_their_reader_may_read(catalog: Connection) -> None:
    options = dict(
        rows(
            catalog,
            "select relname, reloptions from pg_class where relnamespace = 'pgcontext'::regnamespace "
            "and relkind = 'v'",
        )
    )
    assert options
    for name, given in options.items():
        assert "security_invoker=true" in given, name


def test_every_view_has_a_comment(catalog: Connection) -> None:
    assert (
        rows(
            catalog,
            "select relname from pg_class where relnamespace = 'pgcontext'::regnamespace "
            "and relkind = 'v' and obj_description(oid, 'pg_class') is null",
        )
        == []
    )


def test_every_object_comes_from_a_file_of_its_name(catalog: Connection) -> None:
    files = {path.name.split(".")[0] for path in resource_folder("sql").glob("*/*.sql")}
    views = rows(catalog, "select viewname from pg_views where schemaname = 'pgcontext'")
    objects = set(_functions(catalog, "true")) | {name for (name,) in views}
    assert objects == files - {"policies"}


def test_every_table_is_under_row_level_security(catalog: Connection) -> None:
    assert (
        rows(
            catalog,
            "select relname from pg_class where relnamespace = 'pgcontext'::regnamespace "
            "and relkind in ('r', 'p') and not relrowsecurity",
        )
        == []
    )


def test_no_policy_calls_a_helper_for_every_row_it_reads(catalog: Connection) -> None:
    """Helpers without arguments stand in sub-selects, which run once; the others are for writes of single rows."""
    policies = rows(catalog, "select polname, pg_get_expr(polqual, polrelid) from pg_policy where polcmd = 'r'")
    assert policies
    for name, condition in policies:
        outside_of_selects = re.sub(r"\( SELECT [^()]*(\([^()]*\)[^()]*)*\)", "", condition)
        assert "current_" not in outside_of_selects, name
        assert "may_" not in condition, name


def test_the_servers_role_owns_nothing_and_is_bound(catalog: Connection) -> None:
    ((superuser, bypasses, logs_in),) = rows(
        catalog,
        "select rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname = 'pgcontext_server'",
    )
    assert (superuser, bypasses, logs_in) == (False, False, False)
    owners = rows(catalog, "select distinct tableowner from pg_tables where schemaname = 'pgcontext'")
    assert owners == [(OWNER,)]


def test_the_servers_role_cannot_read_who_owns_an_entry_or_who_may_read_it(catalog: Connection) -> None:
    readable = {
        name
        for (name,) in rows(
            catalog,
            "select attname from pg_attribute where attrelid = 'entry'::regclass and attnum > 0 "
            "and has_column_privilege('pgcontext_server', attrelid, attnum, 'select')",
        )
    }
    assert readable
    assert not readable & HIDDEN_COLUMNS


def test_nobody_may_truncate_or_reference(catalog: Connection) -> None:
    assert (
        rows(
            catalog,
            "select grantee, table_name, privilege_type from information_schema.role_table_grants "
            "where table_schema = 'pgcontext' and grantee <> %s "
            "and privilege_type in ('TRUNCATE', 'REFERENCES', 'TRIGGER')",
            OWNER,
        )
        == []
    )


def test_nothing_hangs_on_sequences(catalog: Connection) -> None:
    assert (
        rows(
            catalog,
            "select sequencename from pg_sequences where schemaname = 'pgcontext'",
        )
        == []
    )


def test_child_tables_can_be_distributed_by_entry(catalog: Connection) -> None:
    keys = rows(
        catalog,
        "select conrelid::regclass::text, (select attname from pg_attribute where attrelid = conrelid "
        "and attnum = conkey[1]) from pg_constraint where contype = 'p' "
        "and conrelid in ('entry_grant'::regclass, 'entry_image'::regclass, 'chunk'::regclass, "
        "'chunk_embedding'::regclass)",
    )
    assert {column for _, column in keys} == {"entry_id"}
