"""Who is calling."""

from dataclasses import dataclass

from pgcontext.text.characters import check_characters

MAX_NAME_LENGTH = 256
"""How long the name of a principal, a group or a role may be, in characters."""


def check_name(name: str) -> str:
    """The name of a principal, a group or a role itself; ValueError when nothing can be called so."""
    check_characters(name)
    if name != name.strip() or not 0 < len(name) <= MAX_NAME_LENGTH:
        raise ValueError(f"must be 1 to {MAX_NAME_LENGTH} characters without surrounding white space")
    return name


@dataclass(frozen=True, slots=True)
class Principal:
    """The identity one call runs as: a token subject, its groups and its roles.

    All three are compared exactly: case-sensitive, any characters.
    """

    id: str
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
