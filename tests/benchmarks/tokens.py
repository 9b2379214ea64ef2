"""What the list of tools costs every conversation, in characters and approximate tokens.

    python -m tests.benchmarks.tokens

A token is taken for four characters. Asks a real server with the default settings; asserts nothing.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.e2e.processes import ServerProcess

CHARACTERS_PER_TOKEN = 4


def list_tools() -> list[dict[str, Any]]:
    """The tools as they come over the wire."""
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    with tempfile.TemporaryDirectory(prefix="pgcontext-tokens-") as folder:
        settings = {"DB_PATH": str(Path(folder) / "pgcontext.db")}
        with ServerProcess(settings, Path(folder)) as server:
            _, body = server.post(request)
    return list(json.loads(body)["result"]["tools"])


def size(value: Any) -> int:
    """Characters of the compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def main() -> None:
    tools = list_tools()
    print(f"{'tool':<24} {'input':>7} {'output':>7} {'characters':>11} {'tokens':>7}")
    for tool in tools:
        schemas = f"{size(tool['inputSchema']):>7} {size(tool.get('outputSchema', {})):>7}"
        print(f"{tool['name']:<24} {schemas} {size(tool):>11} {size(tool) // CHARACTERS_PER_TOKEN:>7}")
    print(f"{'all of tools/list':<40} {size(tools):>11} {size(tools) // CHARACTERS_PER_TOKEN:>7}")


if __name__ == "__main__":
    main()
