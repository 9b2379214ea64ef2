"""The command `pgcontext token`: tokens from an issuer of one's own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgcontext.errors import StartRefused

if TYPE_CHECKING:
    from pgcontext.auth.issuer import Issuer

DEFAULT_PORT = 8001
DEFAULT_AUDIENCE = "pgcontext"

_DESCRIPTION = """\
Makes tokens for a server with MCP_AUTH_PROVIDER=jwt, signed with a key of your own, which is made on first use.
Meant for development, tests and teams that trust whoever holds the key file: with it, anybody can be made.
"""


def add_token_command(commands: Any) -> None:
    """Add the command to the parser's commands."""
    command = commands.add_parser(
        "token", help="make a token for somebody, from an issuer of your own", description=_DESCRIPTION
    )
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--subject", help="print a token for this principal")
    what.add_argument(
        "--public-key", action="store_true", help="print the public key, for MCP_AUTH_JWT_PUBLIC_KEY"
    )
    what.add_argument("--jwks", action="store_true", help="print the public key as a key set (JWKS)")
    what.add_argument("--serve", action="store_true", help="serve the key set, for MCP_AUTH_JWT_JWKS_URI")
    command.add_argument("--group", action="append", default=[], help="a group of the principal; may be repeated")
    command.add_argument("--role", action="append", default=[], help="a role of the principal; may be repeated")
    command.add_argument("--scope", action="append", default=[], help="a scope of the token; may be repeated")
    command.add_argument(
        "--audience", default=DEFAULT_AUDIENCE, help="whom it is meant for (default: %(default)s)"
    )
    command.add_argument("--issuer", help="the issuer's name (default: http://127.0.0.1:PORT)")
    command.add_argument("--lifetime", type=_seconds, default=3600, help="in seconds (default: %(default)s)")
    command.add_argument("--keys", type=Path, help="the key file (default: issuer.json in the user's data folder)")
    command.add_argument("--port", type=int, default=DEFAULT_PORT, help="of the issuer (default: %(default)s)")
    command.set_defaults(command=_run)


def _seconds(text: str) -> int:
    seconds = int(text)
    if seconds < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return seconds


def _run(options: argparse.Namespace) -> int:
    from pgcontext.auth.issuer import Issuer, TokenRequest, UnsafeKeyFile
    from pgcontext.settings import data_folder

    try:
        issuer = Issuer(options.keys or data_folder() / "issuer.json")
    except UnsafeKeyFile as error:
        raise StartRefused(str(error)) from None
    name = options.issuer or f"http://127.0.0.1:{options.port}"
    if options.serve:
        return _serve(issuer, name, options.port)
    if options.public_key:
        sys.stdout.write(issuer.public_key())
    elif options.jwks:
        print(json.dumps(issuer.key_set()))
    else:
        _check_names([options.subject, *options.group, *options.role])
        request = TokenRequest(
            issuer=name,
            audience=options.audience,
            subject=options.subject,
            groups=options.group,
            roles=options.role,
            scopes=options.scope,
            lifetime=options.lifetime,
        )
        print(issuer.issue(request))
    return 0


def _check_names(names: Sequence[str]) -> None:
    from pgcontext.principal import check_name

    for name in names:
        try:
            check_name(name)
        except ValueError as error:
            raise StartRefused(f"a principal, a group or a role {error}") from None


def _serve(issuer: Issuer, name: str, port: int) -> int:
    """Serve the public key until interrupted, on this machine only; there is nothing to ask for a token."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from pgcontext.auth.issuer import JWKS_PATH, METADATA_PATHS

    address = f"http://127.0.0.1:{port}{JWKS_PATH}"

    async def show_keys(_request: Request) -> Response:
        return JSONResponse(issuer.key_set())

    async def show_metadata(_request: Request) -> Response:
        return JSONResponse({"issuer": name, "jwks_uri": address, "response_types_supported": []})

    routes = [Route(JWKS_PATH, show_keys), *(Route(path, show_metadata) for path in METADATA_PATHS)]
    print(f"MCP_AUTH_JWT_JWKS_URI={address}\nMCP_AUTH_JWT_ISSUER={name}", file=sys.stderr, flush=True)
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_config=None, server_header=False)
    return 0
