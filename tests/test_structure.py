"""The shape of the house: who may import whom, how large a module grows, and that names agree everywhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgcontext.storage.store import Store

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "server" / "pgcontext"
SQL = ROOT / "sql"
MAX_LINES = 500

MODULES = sorted(PACKAGE.rglob("*.py"))
SQL_FILES = sorted(path for path in SQL.rglob("*.sql") if not path.stem.endswith(".18"))
DRIVERS = ("psycopg", "psycopg_pool", "pgvector", "apsw", "sqlite3", "sqlite_vec", "yoyo")
BACKENDS = ("pgcontext.storage.postgres", "pgcontext.storage.sqlite")
OUTSIDE_STORAGE = ("mcp", "mcp_types", "starlette", "uvicorn", "pydantic")

# The composition root and what reads the settings choose a backend, inside a function.
MAY_CHOOSE_BACKEND = ("app.py", "cli.py", "settings.py")
SQL_STATEMENT = re.compile(
    r"\s*(select\s.+\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\S+\s+as\s*\(|"
    r"(create|alter|drop)\s+(table|index|role|schema|function|view|policy)\s)",
    re.IGNORECASE | re.DOTALL,
)


def inside(module: Path) -> str:
    """The path of a module below the package, such as `tools/entries.py`."""
    return module.relative_to(PACKAGE).as_posix()


def tree(module: Path) -> ast.Module:
    """The module, without the parts that only the type checker sees."""
    parsed = ast.parse(module.read_text(encoding="utf-8"))
    parsed.body = [node for node in parsed.body if not (isinstance(node, ast.If) and _is_type_checking(node))]
    return parsed


def _is_type_checking(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(nodes: ast.AST) -> Iterator[str]:
    """The full name of everything imported; there are no relative imports."""
    for node in ast.walk(nodes):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def top_level_imports(module: Path) -> list[str]:
    """What a module imports when it is itself imported."""
    nodes = [node for node in tree(module).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return [name for node in nodes for name in imports(node)]


def under(name: str, packages: tuple[str, ...]) -> bool:
    """Whether a module is one of these packages or inside one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def offenders(folder: str, *forbidden: str) -> list[str]:
    """Which modules of a folder import any of the forbidden packages, and what."""
    modules = [module for module in MODULES if inside(module).startswith(folder)]
    assert modules
    return [
        f"{inside(module)}: {name}"
        for module in modules
        for name in imports(tree(module))
        if under(name, forbidden)
    ]


def test_text_imports_nothing_of_the_package() -> None:
    found = offenders("text/", "pgcontext")
    assert [line for line in found if not line.split(": ")[1].startswith("pgcontext.text.")] == []


def test_storage_knows_nothing_of_protocol_tools_or_settings() -> None:
    known = ("pgcontext.tools", "pgcontext.contracts", "pgcontext.settings", "pgcontext.app", "pgcontext.cli")
    assert offenders("storage/", *OUTSIDE_STORAGE, *known) == []


def test_backends_do_not_know_each_other() -> None:
    assert offenders("storage/postgres/", "pgcontext.storage.sqlite", "apsw", "sqlite_vec") == []
    assert offenders("storage/sqlite/", "pgcontext.storage.postgres", "psycopg", "psycopg_pool", "pgvector") == []


def test_only_storage_imports_a_driver() -> None:
    outside = [module for module in MODULES if not inside(module).startswith("storage/")]
    found = [
        (inside(module), name) for module in outside for name in imports(tree(module)) if under(name, DRIVERS)
    ]
    assert found == []


def test_tools_and_contracts_see_the_protocol_of_the_store_only() -> None:
    for folder in ("tools/", "contracts/"):
        assert offenders(folder, *BACKENDS, "pgcontext.app", "pgcontext.cli") == []
    assert offenders("contracts/", "pgcontext.tools", "pgcontext.storage.migrations") == []


def test_tokens_are_judged_without_tools_and_storage() -> None:
    assert (
        offenders("auth/", "pgcontext.tools", "pgcontext.http", *BACKENDS, "pgcontext.app", "pgcontext.cli") == []
    )
    assert offenders("http/", "pgcontext.tools", *BACKENDS, "pgcontext.app", "pgcontext.cli") == []


def test_only_the_composition_root_chooses_a_backend_and_only_when_asked() -> None:
    outside = [module for module in MODULES if not inside(module).startswith("storage/")]
    assert {
        inside(module)
        for module in outside
        if inside(module) not in MAY_CHOOSE_BACKEND
        and any(under(name, BACKENDS) for name in imports(tree(module)))
    } == set()
    assert [
        inside(module) for module in outside if any(under(name, BACKENDS) for name in top_level_imports(module))
    ] == []


def test_no_sql_outside_storage() -> None:
    found = [
        f"{inside(module)}:{node.lineno}"
        for module in MODULES
        if not inside(module).startswith("storage/")
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_STATEMENT.match(node.value)
    ]
    assert found == []


def test_only_settings_reads_the_environment() -> None:
    names = ("environ", "environb", "getenv", "putenv")
    readers = {
        inside(module)
        for module in MODULES
        for node in ast.walk(tree(module))
        if (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.Name) and node.id in names)
    }
    assert readers == {"settings.py"}


@pytest.mark.parametrize("folder", ["server", "tests"])
def test_modules_stay_short(folder: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {path: length for path, length in lengths.items() if length > MAX_LINES} == {}


def test_every_sql_file_is_installed_once() -> None:
    lines = [
        line for line in (SQL / "install.order").read_text().splitlines() if line and not line.startswith("#")
    ]
    assert sorted(lines) == [path.relative_to(SQL).as_posix() for path in SQL_FILES]
    for variant in SQL.rglob("*.18.sql"):
        assert variant.with_name(variant.name.replace(".18.sql", ".sql")) in SQL_FILES


@pytest.mark.parametrize("path", sorted(SQL.rglob("*.sql")), ids=lambda path: path.relative_to(SQL).as_posix())
def test_sql_file_is_named_after_its_object(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name = path.name.split(".")[0]
    created = re.findall(
        r"^create (?:or replace )?(function|procedure|view|trigger) ([a-z_0-9]+)", text, re.MULTILINE
    )
    if name == "policies":
        assert created == []
        return
    main = [object_name for kind, object_name in created if kind != "trigger"]
    assert main == [name]
    assert re.search(rf"^comment on (function|procedure|view) {name}\b[^']*'[^']", text, re.MULTILINE)


def stored_functions() -> dict[str, list[str]]:
    """The methods of `Store` that stand for a stored function, with their arguments in order."""
    methods = inspect.getmembers(Store, inspect.iscoroutinefunction)
    return {
        name: [argument for argument in inspect.signature(method).parameters if argument not in ("self", "caller")]
        for name, method in methods
        if name not in ("open", "close")
    }


def sql_file(function: str) -> Path:
    """The file of a stored function."""
    (path,) = [path for path in SQL_FILES if path.stem == function]
    return path


def sql_arguments(function: str) -> list[str]:
    """The names of a stored function's parameters, without their `p_`."""
    text = sql_file(function).read_text(encoding="utf-8")
    declared = re.search(rf"create or replace function {function}\((.*?)\)\s+returns", text, re.DOTALL)
    assert declared, f"{function} is not created in the house's form"
    assert not re.search(r"\b(out|inout|variadic)\b", declared[1])
    return [name.removeprefix("p_") for name in re.findall(r"(?:^|,)\s*(p_[a-z_0-9]+)\s", declared[1])]


def test_store_has_methods() -> None:
    """Guards the tests below against comparing nothing."""
    assert {"store_entries", "search_entries", "list_grants"} <= stored_functions().keys()


@pytest.mark.parametrize("function", sorted(stored_functions()))
def test_store_method_has_its_sql_function(function: str) -> None:
    """Binary parts of documents follow as arguments of their own."""
    arguments = [name for name in sql_arguments(function) if name not in ("embeddings", "token_codes")]
    assert arguments == stored_functions()[function]


@pytest.mark.parametrize("function", sorted(stored_functions()))
def test_store_method_has_its_sqlite_twin(function: str) -> None:
    """In the module that is named after the folder of the SQL file; its first argument is the session."""
    twin = getattr(importlib.import_module(f"pgcontext.storage.sqlite.{sql_file(function).parent.name}"), function)
    assert list(inspect.signature(twin).parameters)[1:] == stored_functions()[function]


@pytest.mark.parametrize("backend, name", [("postgres", "PostgresStore"), ("sqlite", "SqliteStore")])
def test_backends_implement_the_store_to_the_letter(backend: str, name: str) -> None:
    store = getattr(importlib.import_module(f"pgcontext.storage.{backend}.store"), name)
    for method, declared in inspect.getmembers(Store, inspect.isfunction):
        if not method.startswith("_"):
            assert inspect.signature(getattr(store, method)) == inspect.signature(declared), method
