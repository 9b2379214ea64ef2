"""Every promise of the contract has a test; the list is requirements.yaml."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
REQUIREMENTS: dict[str, Any] = yaml.safe_load((FOLDER / "requirements.yaml").read_text())
PROMISES: list[dict[str, Any]] = REQUIREMENTS["promises"]
LATER: list[dict[str, Any]] = [promise for topic in REQUIREMENTS["later"] for promise in topic["promises"]]


def tests_of(file: Path, folder: str) -> set[str]:
    """The tests that a file defines, as `file::test`, those of another folder as `../folder/file::test`."""
    return {
        f"{folder}{file.name}::{node.name}"
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


TESTS = {test for file in FOLDER.glob("test_*.py") for test in tests_of(file, "")} - tests_of(Path(__file__), "")
ELSEWHERE = {
    test
    for folder in ("auth", "e2e", "plans", "sql", "vectors")
    for file in (FOLDER.parent / folder).glob("test_*.py")
    for test in tests_of(file, f"../{folder}/")
}


def test_every_promise_has_an_id_of_its_own_and_a_sentence() -> None:
    counted = Counter(promise["id"] for promise in (*PROMISES, *LATER))
    assert [name for name, count in counted.items() if count > 1] == []
    assert [promise["id"] for promise in (*PROMISES, *LATER) if not promise["promise"].strip()] == []


def test_every_promise_has_a_test() -> None:
    assert [promise["id"] for promise in PROMISES if not promise.get("tests")] == []


def test_every_test_of_a_promise_exists() -> None:
    assert {name for promise in PROMISES for name in promise.get("tests", ())} - TESTS - ELSEWHERE == set()


def test_every_test_shows_a_promise() -> None:
    assert TESTS - {name for promise in PROMISES for name in promise.get("tests", ())} == set()


def test_what_comes_later_belongs_to_a_topic() -> None:
    assert all(topic["topic"] and topic["promises"] for topic in REQUIREMENTS["later"])
