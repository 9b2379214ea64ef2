"""From the settings to a verifier of tokens."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pgcontext.auth.keys import FixedKey, KeySource, PublishedKeys, fetch_from
from pgcontext.auth.tokens import JwtVerifier, TokenRules
from pgcontext.auth.verifier import SharedTokenVerifier, Verifier
from pgcontext.errors import StartRefused
from pgcontext.principal import Principal
from pgcontext.settings import Settings

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def create_verifier(settings: Settings) -> Verifier | None:
    """The verifier that MCP_AUTH_PROVIDER asks for, None for `none`.

    Raises `StartRefused` with one line per setting that is missing or wrong.
    """
    if settings.mcp_auth_provider == "none":
        return None
    if settings.mcp_auth_provider == "simple_token":
        return _shared_token_verifier(settings)
    return _jwt_verifier(settings)


def _shared_token_verifier(settings: Settings) -> Verifier:
    if settings.mcp_auth_token is None:
        raise StartRefused("MCP_AUTH_TOKEN: must be set when MCP_AUTH_PROVIDER is simple_token")
    token = settings.mcp_auth_token.get_secret_value()
    if not token.isascii() or any(character.isspace() or not character.isprintable() for character in token):
        raise StartRefused(
            "MCP_AUTH_TOKEN: must be printable ASCII without white space, so that a header can hold it"
        )
    principal = Principal(settings.access_control_default_principal)
    return SharedTokenVerifier(token, principal, settings.mcp_auth_client_id)


def _jwt_verifier(settings: Settings) -> Verifier:
    faults = list(_faults(settings))
    keys: KeySource | None = None
    if not faults:
        try:
            keys = _key_source(settings)
        except ValueError as error:
            faults.append(f"MCP_AUTH_JWT_PUBLIC_KEY: {error}")
    if keys is None or settings.mcp_auth_jwt_issuer is None:
        raise StartRefused("\n".join(faults))
    rules = TokenRules(
        issuer=settings.mcp_auth_jwt_issuer,
        audience=settings.mcp_auth_jwt_audience,
        algorithm=settings.mcp_auth_jwt_algorithm,
        leeway=settings.mcp_auth_jwt_leeway_s,
        groups_claim=settings.mcp_auth_groups_claim,
        roles_claim=settings.mcp_auth_roles_claim,
    )
    return JwtVerifier(rules, keys)


def _faults(settings: Settings) -> list[str]:
    faults = []
    uri = settings.mcp_auth_jwt_jwks_uri
    if (settings.mcp_auth_jwt_public_key is None) == (uri is None):
        faults.append("MCP_AUTH_JWT_PUBLIC_KEY or MCP_AUTH_JWT_JWKS_URI: exactly one of the two must be set")
    if uri is not None and not _is_safe(uri):
        faults.append("MCP_AUTH_JWT_JWKS_URI: must be an https address, or an http address on this machine")
    if settings.mcp_auth_jwt_issuer is None:
        faults.append("MCP_AUTH_JWT_ISSUER: must be set when MCP_AUTH_PROVIDER is jwt")
    if not settings.mcp_auth_jwt_audience and not settings.mcp_auth_jwt_allow_any_audience:
        faults.append(
            "MCP_AUTH_JWT_AUDIENCE: must be set, because a token that was issued for another service must not be "
            "accepted here; MCP_AUTH_JWT_ALLOW_ANY_AUDIENCE=true accepts it all the same"
        )
    return faults


def _is_safe(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        return bool(parts.hostname) and (
            parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        )
    except ValueError:
        return False


def _key_source(settings: Settings) -> KeySource:
    if settings.mcp_auth_jwt_jwks_uri is not None:
        return PublishedKeys(fetch_from(settings.mcp_auth_jwt_jwks_uri), settings.mcp_auth_jwt_algorithm)
    text = settings.mcp_auth_jwt_public_key or ""
    if "-----BEGIN" not in text:
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8")
        except OSError as error:
            raise ValueError(f"is neither a key in PEM form nor a file that can be read: {error}") from None
    # a line of a .env file has its line ends written out
    return FixedKey(text.replace("\\n", "\n"), settings.mcp_auth_jwt_algorithm)
