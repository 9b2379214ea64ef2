"""The generated pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgcontext.docs import PAGES, main
from pgcontext.settings import Settings
from pgcontext.tools.registry import ALL_TOOLS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_what_the_code_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m pgcontext.docs docs"


def test_every_setting_and_every_tool_is_described(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    settings = (tmp_path / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        assert f"`{name.upper()}`" in settings
        assert field.description
    tools = (tmp_path / "tools.md").read_text(encoding="utf-8")
    for tool in ALL_TOOLS:
        assert f"## {tool.name}\n" in tools


def test_the_generator_wants_a_folder() -> None:
    assert main([]) == 2
