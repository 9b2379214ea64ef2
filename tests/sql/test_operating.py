"""`pgcontext doctor` and `pgcontext explain-access` on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgcontext.errors import EntryNotFound, StartRefused
from pgcontext.storage.operating import Finding
from pgcontext.storage.postgres.installer import provision
from pgcontext.storage.postgres.operating import examine, explain_access
from pgcontext.storage.postgres.options import PostgresOptions
from support.acting import Connection, rows, store
from support.logins import create_login, drop_login
from support.options import options_for
from support.postgres import LOGIN, OWNER, PostgresServer
from surface.process import run

FIXED_VIEW = "relowner"


@pytest.fixture(scope="module")
def name(database: Callable[[], str]) -> str:
    return database()


@pytest.fixture(scope="module")
def options(postgres: PostgresServer, name: str) -> PostgresOptions:
    """As the owner of the tables."""
    options = options_for(postgres.database(name, OWNER), True)
    provision(options)
    return options


def faults(findings: list[Finding], severity: str = "error") -> list[str]:
    return [finding.fault for finding in findings if finding.severity == severity]


# doctor


def test_a_sound_deployment_has_no_errors_whoever_asks(options: PostgresOptions) -> None:
    for login in (OWNER, LOGIN):
        findings = examine(replace(options, conninfo=options.conninfo.replace(OWNER, login)))
        assert faults(findings) == []
        assert faults(findings, "warning") == []


def test_no_connection_and_no_installation_are_told(postgres: PostgresServer, options: PostgresOptions) -> None:
    (finding,) = examine(replace(options, conninfo="host=/nonexistent dbname=x"))
    assert (finding.severity, finding.area) == ("error", "connection")
    (finding,) = examine(replace(options, schema="elsewhere"))
    assert "holds no installation" in finding.fault


@pytest.mark.parametrize(
    "spoil, mend, told",
    [
        ("alter role pgcontext_server bypassrls", "alter role pgcontext_server nobypassrls", "BYPASSRLS"),
        (
            "alter role pgcontext_reporter superuser",
            "alter role pgcontext_reporter nosuperuser",
            "role pgcontext_reporter is a superuser",
        ),
        (
            "alter table pgcontext.database_login disable row level security",
            "alter table pgcontext.database_login enable row level security",
            "switched off on table database_login",
        ),
        (
            "create policy more on pgcontext.entry using (true)",
            "drop policy more on pgcontext.entry",
            "policy more on table entry is not one of ours",
        ),
        (
            "alter policy entry_read on pgcontext.entry using (true)",
            "alter policy entry_read on pgcontext.entry using (readers && (select pgcontext.current_readers()))",
            "the policies are not the ones that were installed",
        ),
        (
            "grant truncate on pgcontext.entry to pgcontext_reporter",
            "revoke truncate on pgcontext.entry from pgcontext_reporter",
            "pgcontext_reporter may truncate on entry",
        ),
        (
            "grant select on pgcontext.entry to pgcontext_reporter",
            "revoke select on pgcontext.entry from pgcontext_reporter",
            "pgcontext_reporter may read column owner of table entry",
        ),
        (
            "grant execute on function pgcontext.get_entries to public",
            "revoke execute on function pgcontext.get_entries from public",
            "everybody may call function get_entries",
        ),
        (
            "grant create on schema pgcontext to public",
            "revoke create on schema pgcontext from public",
            "public may create objects in schema pgcontext",
        ),
        (
            "drop index pgcontext.entry_tags_idx",
            "create index entry_tags_idx on pgcontext.entry using gin (tags)",
            "index entry_tags_idx is missing",
        ),
        (
            "update pgcontext.setting set value = 'public' where name = 'default_visibility'",
            "update pgcontext.setting set value = 'private' where name = 'default_visibility'",
            "setting default_visibility is public in the database and private in the environment",
        ),
        (
            "update pgcontext.setting set value = 'old' where name = 'release_fingerprint'",
            None,
            "the database is of another release than this program",
        ),
    ],
)
def test_what_is_wrong_is_told_with_a_remedy(
    postgres: PostgresServer, name: str, options: PostgresOptions, spoil: str, mend: str | None, told: str
) -> None:
    postgres.execute(spoil, name)
    try:
        findings = examine(options)
    finally:
        if mend:
            postgres.execute(mend, name)
        else:
            provision(options)
    matching = [finding for finding in findings if told in finding.fault]
    assert matching, faults(findings)
    assert all(finding.severity == "error" and finding.remedy for finding in matching)
    assert faults(examine(options)) == []


def test_a_login_without_any_right_is_told(postgres: PostgresServer, name: str, options: PostgresOptions) -> None:
    create_login(postgres, "pgcontext_test_outsider")
    try:
        outsider = replace(options, conninfo=postgres.database(name, "pgcontext_test_outsider"))
        assert any("pgcontext_server" in finding.remedy for finding in examine(outsider))
        assert faults(examine(outsider))
    finally:
        drop_login(postgres, name, "pgcontext_test_outsider")


def test_a_login_that_is_mapped_and_trusted_is_told(
    postgres: PostgresServer, name: str, options: PostgresOptions
) -> None:
    create_login(postgres, "pgcontext_test_promoted")
    postgres.execute("select pgcontext.map_login('pgcontext_test_promoted', 'x')", name)
    postgres.execute("grant pgcontext_server to pgcontext_test_promoted")
    try:
        assert "login pgcontext_test_promoted is mapped to one principal, but may read and act as any" in faults(
            examine(options)
        )
    finally:
        postgres.execute("select pgcontext.unmap_login('pgcontext_test_promoted')", name)
        drop_login(postgres, name, "pgcontext_test_promoted")


def test_a_cluster_from_before_the_fix_of_a_leak_in_statistics_is_told(
    postgres: PostgresServer, name: str, options: PostgresOptions
) -> None:
    """CVE-2024-4317: clusters that were initialised earlier keep the view that shows everybody all values."""
    with psycopg.connect(postgres.database(name)) as connection:
        ((fixed,),) = rows(connection, "select pg_get_viewdef('pg_stats_ext_exprs'::regclass)")
        assert FIXED_VIEW in fixed
        unfixed = fixed[: fixed.rindex("WHERE")] if "WHERE" in fixed else fixed
        connection.execute("set allow_system_table_mods = on")
        connection.execute(f"create or replace view pg_catalog.pg_stats_ext_exprs as {unfixed}")
        ((fault,),) = rows(
            connection, "select fault from pgcontext.report_faults() where fault like '%%CVE-2024-4317%%'"
        )
        connection.rollback()
    assert "pg_stats_ext_exprs" in fault
    assert not any("CVE" in fault for fault in faults(examine(options), "warning"))


def test_doctor_tells_by_its_exit_status(tmp_path: Path, options: PostgresOptions) -> None:
    variables = {"STORAGE_BACKEND": "postgresql", "POSTGRESQL_CONNECTION_STRING": options.conninfo}
    well = run(tmp_path, "doctor", **variables)
    assert (well.returncode, well.stdout.splitlines()[-1]) == (0, "no errors")
    ill = run(tmp_path, "doctor", **variables, ACCESS_CONTROL_PUBLISH_ROLE="editor")
    assert ill.returncode == 1
    assert "setting publish_role is None in the database and editor in the environment" in ill.stdout


# explain-access


@pytest.fixture(scope="module")
def operator(options: PostgresOptions) -> Iterator[Connection]:
    with psycopg.connect(options.conninfo, autocommit=True) as connection:
        yield connection


PEOPLE = ("alice", "bob", "carol")
GROUPS = ("red", "blue")
GRANTS = st.lists(
    st.tuples(
        st.sampled_from([("user", "bob"), ("user", "carol"), ("group", "red"), ("group", "blue")]),
        st.sampled_from(["read", "write"]),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    grants=GRANTS,
    visibility=st.sampled_from(["private", "public"]),
    principal=st.sampled_from(PEOPLE),
    groups=st.sets(st.sampled_from(GROUPS)),
)
def test_what_is_explained_is_what_the_rules_do(
    operator: Connection,
    grants: list[tuple[tuple[str, str], str]],
    visibility: str,
    principal: str,
    groups: set[str],
) -> None:
    with operator.transaction(force_rollback=True):
        operator.execute("set local search_path to pgcontext")
        operator.execute("select begin_request('alice')")
        entry_id = store(operator, "text", visibility=visibility)
        for (kind, grantee), permission in grants:
            operator.execute("select share_entry(%s, %s, %s, %s)", (entry_id, kind, grantee, permission))
        operator.execute("select begin_request(%s, %s)", (principal, list(groups)))
        rights = rows(operator, "select is_owner, is_writable from get_entry_rights(array[%s]::uuid[])", entry_id)
        operator.execute("reset role")
        explained = rows(
            operator, "select permission from explain_access(%s, %s, %s)", entry_id, principal, list(groups)
        )
    permissions = {permission for (permission,) in explained}
    assert ("read" in permissions) == bool(rights)
    assert ("own" in permissions) == bool(rights and rights[0][0])
    assert ("write" in permissions) == bool(rights and rights[0][1])


def test_every_reason_is_told(options: PostgresOptions, operator: Connection) -> None:
    with operator.transaction():
        operator.execute("select pgcontext.begin_request('alice')")
        entry_id = store(operator, "text", visibility="public")
        for grant in (("user", "bob", "read"), ("group", "red", "write")):
            operator.execute("select pgcontext.share_entry(%s, %s, %s, %s)", (entry_id, *grant))

    def told(who: str, *groups: str) -> list[tuple[str, str, str | None]]:
        return [
            (rule.permission, rule.rule, rule.through) for rule in explain_access(options, entry_id, who, groups)
        ]

    assert told("alice") == [
        ("read", "owner", "alice"),
        ("read", "public", None),
        ("write", "owner", "alice"),
        ("own", "owner", "alice"),
    ]
    assert told("bob", "red") == [
        ("read", "grant to group", "red"),
        ("read", "grant to user", "bob"),
        ("read", "public", None),
        ("write", "grant to group", "red"),
    ]
    assert told("dora") == [("read", "public", None)]


def test_the_anonymous_principal_never_writes(options: PostgresOptions, operator: Connection) -> None:
    with operator.transaction():
        operator.execute("select pgcontext.begin_request('alice')")
        entry_id = store(operator, "text")
        operator.execute("select pgcontext.share_entry(%s, 'group', 'red', 'write')", (entry_id,))
    operator.execute("insert into pgcontext.setting values ('anonymous_principal', 'nobody')")
    try:
        assert [rule.permission for rule in explain_access(options, entry_id, "nobody", ["red"])] == ["read"]
    finally:
        operator.execute("delete from pgcontext.setting where name = 'anonymous_principal'")


def test_only_an_operator_may_ask(options: PostgresOptions) -> None:
    as_server = replace(options, conninfo=options.conninfo.replace(OWNER, LOGIN))
    with pytest.raises(StartRefused):
        explain_access(as_server, "0" * 32, "alice", [])
    with pytest.raises(EntryNotFound):
        explain_access(options, "0" * 32, "alice", [])


def test_the_command_prints_the_rules(tmp_path: Path, options: PostgresOptions, operator: Connection) -> None:
    with operator.transaction():
        operator.execute("select pgcontext.begin_request('alice')")
        entry_id = store(operator, "text")
        operator.execute("select pgcontext.share_entry(%s, 'group', 'red', 'read')", (entry_id,))
    variables = {"STORAGE_BACKEND": "postgresql", "POSTGRESQL_CONNECTION_STRING": options.conninfo}
    shared = run(tmp_path, "explain-access", entry_id, "bob", "--group", "red", "--group", "blue", **variables)
    assert shared.returncode == 0
    assert shared.stdout.startswith("read  grant to group red, given by alice since 20")
    hidden = run(tmp_path, "explain-access", entry_id, "bob", **variables)
    assert (hidden.returncode, hidden.stdout) == (1, "bob may not read this entry\n")
