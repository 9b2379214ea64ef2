"""Calling the stored functions directly, as the server does and as somebody in psql would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]


@contextmanager
def acting_as(
    connection: Connection, principal: str, groups: tuple[str, ...] = (), roles: tuple[str, ...] = ()
) -> Iterator[Connection]:
    """One request of this principal, rolled back in the end; the search path holds the schema alone."""
    with connection.transaction(force_rollback=True):
        connection.execute("set local search_path to pgcontext")
        connection.execute("select begin_request(%s, %s, %s)", (principal, list(groups), list(roles)))
        yield connection


def rows(connection: Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    return connection.execute(query, parameters).fetchall()  # type: ignore[arg-type]


def store(connection: Connection, text: str, **entry: Any) -> str:
    """Store an entry of the acting principal in thread `t`; its id."""
    document = {"thread_id": "t", "source": "agent", "text": text, "deduplicate": False} | entry
    ((entry_id,),) = rows(
        connection, "select entry_id from pgcontext.store_entries(%s::jsonb)", json.dumps([document])
    )
    return str(entry_id)


def watch_plans(connection: Connection) -> None:
    """Let `nested_plans` work on this connection, whose login must be a superuser."""
    connection.execute("load 'auto_explain'")
    for name, value in (
        ("auto_explain.log_min_duration", "0"),
        ("auto_explain.log_nested_statements", "on"),
        ("auto_explain.log_analyze", "on"),
        ("auto_explain.log_timing", "off"),
        ("auto_explain.log_format", "json"),
        ("auto_explain.log_level", "notice"),
        ("client_min_messages", "notice"),
    ):
        connection.execute("select set_config(%s, %s, false)", (name, value))


def nested_plans(connection: Connection, query: str, *parameters: Any) -> list[dict[str, Any]]:
    """The plan, with actual row counts, of every statement that a call runs inside its functions.

    The statements run as the roles that the functions really have.
    """
    plans: list[dict[str, Any]] = []

    def collect(diagnostic: psycopg.errors.Diagnostic) -> None:
        message = diagnostic.message_primary or ""
        if "plan:\n" in message:
            plans.append(json.loads(message.split("plan:\n", 1)[1]))

    connection.add_notice_handler(collect)
    try:
        connection.execute(query, parameters).fetchall()  # type: ignore[arg-type]
    finally:
        connection.remove_notice_handler(collect)
    return plans


def nodes(plan: Any) -> Iterator[dict[str, Any]]:
    """Every node of a plan tree."""
    if isinstance(plan, dict):
        if "Node Type" in plan:
            yield plan
        for value in plan.values():
            yield from nodes(value)
    elif isinstance(plan, list):
        for value in plan:
            yield from nodes(value)
