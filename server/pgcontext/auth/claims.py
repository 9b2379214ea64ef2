"""From the claims of a verified token to a principal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgcontext.auth.verifier import TokenRefused
from pgcontext.principal import Principal, check_name

MAX_NAMES = 500
"""The most groups, and the most roles, that a token may list."""


def principal_of(claims: Mapping[str, Any], groups_claim: str, roles_claim: str) -> Principal:
    """The subject with its groups and roles; raises `TokenRefused` when one of them cannot be a name."""
    subject = claims.get("sub")
    if not isinstance(subject, str):
        raise TokenRefused("wrong_claims", "the claim 'sub' is not a string")
    return Principal(_checked(subject, "sub"), names_in(claims, groups_claim), names_in(claims, roles_claim))


def names_in(claims: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """The names that a claim lists, each once; a string is one name, a claim that is not there none."""
    value = find_claim(claims, path)
    names = [value] if isinstance(value, str) else value
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TokenRefused("wrong_claims", f"the claim '{path}' is neither a string nor a list of strings")
    if len(names) > MAX_NAMES:
        raise TokenRefused("wrong_claims", f"the claim '{path}' lists more than {MAX_NAMES} names")
    return tuple(dict.fromkeys(_checked(name, path) for name in names))


def scopes_in(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of a token, from `scope` (RFC 8693) or `scp`: names between spaces, or a list."""
    value = claims.get("scope", claims.get("scp"))
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list):
        return frozenset(scope for scope in value if isinstance(scope, str))
    return frozenset()


def find_claim(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of this name, or at this dotted path; None when there is none.

    A name that is there as a whole comes first, so that `https://example.org/groups` and `my.app` need no
    quoting, also as steps of a path.
    """
    if path in claims:
        return claims[path]
    for dot in reversed([place for place, character in enumerate(path) if character == "."]):
        inner = claims.get(path[:dot])
        if isinstance(inner, dict) and (found := find_claim(inner, path[dot + 1 :])) is not None:
            return found
    return None


def _checked(name: str, claim: str) -> str:
    try:
        return check_name(name)
    except ValueError as error:
        raise TokenRefused("wrong_claims", f"a name in the claim '{claim}' {error}") from None
