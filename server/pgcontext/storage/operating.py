"""What both backends tell an operator, outside of any request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about an installation that the operator should know, and what to do about it.

    An error keeps the deployment from working or from keeping its promises; a warning will hurt some day; a note
    is for information.
    """

    severity: Severity
    area: str
    fault: str
    remedy: str


@dataclass(frozen=True, slots=True)
class AccessRule:
    """One reason why a principal has a permission (read, write, own) on an entry.

    `rule` is "owner", "public", "grant to user" or "grant to group"; `through` names the owner or the grantee.
    """

    permission: str
    rule: str
    through: str | None
    granted_by: str | None
    since: str | None
