"""How much of a text another text holds."""

from __future__ import annotations

from collections import Counter


def coverage(source: str, stored: str) -> float:
    """The share of the source's non-white-space characters that are in the stored text, each as often."""
    wanted, found = Counter("".join(source.split())), Counter("".join(stored.split()))
    return 1 - (wanted - found).total() / max(wanted.total(), 1)
