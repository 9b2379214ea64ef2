"""Where the SQL files are that travel with the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_folder(name: str) -> Path:
    """The folder `sql` or `migrations`: inside an installed package, else at the root of the source checkout.

    Raises FileNotFoundError when neither is there.
    """
    for folder in (_PACKAGE / f"_{name}", _PACKAGE.parents[1] / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"The folder '{name}' that belongs to pgcontext is missing; reinstall the package")
