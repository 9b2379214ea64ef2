"""What the operator's settings allow a request to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Limits:
    """Handed to the request models as their validation context."""

    max_image_bytes: int = 10 * 2**20
    max_total_bytes: int = 100 * 2**20
    indexed_fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
