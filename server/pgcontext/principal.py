"""Who is calling."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """The identity one call runs as: a token subject, its groups and its roles.

    All three are compared exactly: case-sensitive, any characters.
    """

    id: str
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
