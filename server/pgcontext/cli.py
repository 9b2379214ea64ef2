"""The command `pgcontext`."""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from pgcontext import __version__
from pgcontext.auth.token_command import add_token_command
from pgcontext.errors import PgcontextError, StartRefused
from pgcontext.text.dates import format_seconds

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette

    from pgcontext.settings import Settings
    from pgcontext.storage.operating import AccessRule

EX_CONFIG = 78
"""The exit status of sysexits.h for a configuration error."""

_SHUTDOWN_SECONDS = 10
_BACKLOG = 2048
_MAX_HEADER_BYTES = 32 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status, which is `EX_CONFIG` when the settings or the deployment are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return int(options.command(options))
    except StartRefused as error:
        print(f"pgcontext cannot start:\n{error}", file=sys.stderr)
        return EX_CONFIG
    except _StartFailed as error:
        print(f"pgcontext cannot start:\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pgcontext",
        description="Shared, access-controlled memory for teams of AI agents, served over MCP.",
        epilog="Everything else is set by environment variables; see docs/settings.md.",
    )
    parser.add_argument("--version", action="version", version=f"pgcontext {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    parser.set_defaults(command=None)
    serve = commands.add_parser("serve", help="start the server")
    serve.add_argument("--host", help="address to listen on (MCP_HTTP_HOST)")
    serve.add_argument("--port", type=int, help="port to listen on, 0 for any free one (MCP_HTTP_PORT)")
    serve.add_argument("--stdio", action="store_true", help="serve one client over stdin and stdout")
    serve.set_defaults(command=_serve)
    migrate = commands.add_parser("migrate", help="create or upgrade the database, and leave")
    migrate.set_defaults(command=_migrate)
    doctor = commands.add_parser("doctor", help="say what is wrong with the deployment, and how to mend it")
    doctor.set_defaults(command=_doctor)
    explain = commands.add_parser("explain-access", help="say why somebody may read or change an entry")
    explain.add_argument("entry", metavar="ENTRY", help="the whole id of an entry")
    explain.add_argument("principal", metavar="PRINCIPAL", help="who, as in a token's subject")
    explain.add_argument("--group", action="append", default=[], help="a group of that principal; may be repeated")
    explain.set_defaults(command=_explain_access)
    add_token_command(commands)
    return parser


def _load_settings(**overrides: Any) -> Settings:
    from pgcontext.logs import configure_logging
    from pgcontext.settings import load_settings

    settings = load_settings({name: value for name, value in overrides.items() if value is not None})
    configure_logging(settings.log_level, settings.log_format)
    return settings


def _serve(options: argparse.Namespace) -> int:
    import anyio

    settings = _load_settings(
        mcp_http_host=options.host,
        mcp_http_port=options.port,
        mcp_transport="stdio" if options.stdio else None,
    )
    anyio.run(_run_server, settings)
    return 0


async def _run_server(settings: Settings) -> None:
    """Open the store before anything listens, so that a start that fails says why."""
    from pgcontext.app import create_server, create_store
    from pgcontext.stdio import serve_stdio

    if settings.mcp_transport == "stdio":
        with _start_failures("The storage cannot be opened"):
            store = create_store(settings)
        async with _opened(create_server(settings, store)) as server:
            await serve_stdio(server)
    else:
        await _run_http(settings)


async def _run_http(settings: Settings) -> None:
    from pgcontext.app import create_server, create_store
    from pgcontext.auth.provider import create_verifier
    from pgcontext.http.application import create_http_app
    from pgcontext.http.gate import principal_of_request
    from pgcontext.http.metrics import Metrics
    from pgcontext.http.observing import Observer

    verifier = create_verifier(settings)
    _warn_of_open_doors(settings)
    with _start_failures("The storage cannot be opened"):
        store = create_store(settings)
    observer = Observer(Metrics(store) if settings.enable_metrics else None)
    resolve = principal_of_request if verifier else None
    async with _opened(create_server(settings, store, resolve, observer.note_call)) as server:
        await _serve_http(settings, create_http_app(settings, server, store, verifier, observer))


@asynccontextmanager
async def _opened(server: Server[Any]) -> AsyncIterator[Server[Any]]:
    async with AsyncExitStack() as stack:
        with _start_failures("The storage cannot be opened"):
            await stack.enter_async_context(server.lifespan(server))
        yield server


def _warn_of_open_doors(settings: Settings) -> None:
    if settings.mcp_auth_provider == "none" and settings.mcp_http_host not in ("127.0.0.1", "localhost", "::1"):
        logging.getLogger(__name__).warning(
            "MCP_AUTH_PROVIDER is none: whoever reaches %s calls as '%s'",
            settings.mcp_http_host,
            settings.access_control_default_principal,
        )


async def _serve_http(settings: Settings, app: Starlette) -> None:
    import uvicorn

    from pgcontext.http.resource import HTTP_PATH

    class HttpServer(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # uvicorn's own version kills the process with the signal afterwards, before the store is closed
            numbers = (signal.SIGINT, signal.SIGTERM)
            previous = {number: signal.signal(number, self.handle_exit) for number in numbers}
            try:
                yield
            finally:
                for number, handler in previous.items():
                    signal.signal(number, handler)

    host, port = settings.mcp_http_host, settings.mcp_http_port
    with _start_failures(f"Cannot listen on {host} port {port}"):
        listener = socket.create_server((host, port), family=_family(host), backlog=_BACKLOG)
        # connections inherit it; without it each answer on a kept connection waits for the client's next packet
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        app,
        # unlike the other implementation it bounds the headers of a request
        http="h11",
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        ws="none",
        # the application has its own, which knows whom to trust
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    shown = f"[{host}]" if ":" in host else host
    print(
        f"pgcontext listens on http://{shown}:{listener.getsockname()[1]}{HTTP_PATH}", file=sys.stderr, flush=True
    )
    await HttpServer(config).serve(sockets=[listener])


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _migrate(_options: argparse.Namespace) -> int:
    import anyio

    settings = _load_settings()
    if settings.storage_backend == "postgresql":
        from pgcontext.storage.postgres.installer import provision

        with _start_failures("The database cannot be prepared"):
            done = provision(settings.postgres_options())
        print("\n".join(done) or "everything is up to date")
    else:
        anyio.run(_create_file, settings)
        print(f"{settings.db_path} is up to date")
    return 0


async def _create_file(settings: Settings) -> None:
    from pgcontext.app import create_store

    with _start_failures("The storage cannot be opened"):
        store = create_store(settings)
        await store.open()
    await store.close()


def _doctor(_options: argparse.Namespace) -> int:
    settings = _load_settings()
    if settings.storage_backend == "postgresql":
        from pgcontext.storage.postgres import operating as postgres

        findings = postgres.examine(settings.postgres_options())
    else:
        from pgcontext.storage.sqlite import operating as sqlite

        findings = sqlite.examine(settings.db_path.expanduser(), settings.metadata_indexed_fields)
    for finding in findings:
        print(f"{finding.severity:<7} {finding.area}: {finding.fault}\n        {finding.remedy}")
    is_ill = any(finding.severity == "error" for finding in findings)
    print("there are errors" if is_ill else "no errors")
    return int(is_ill)


def _explain_access(options: argparse.Namespace) -> int:
    """The rules, one line each; the exit status is 1 where there is none, or no such entry."""
    from pgcontext.errors import EntryNotFound

    try:
        rules = _access_rules(options)
    except EntryNotFound as error:
        print(error, file=sys.stderr)
        return 1
    for rule in rules:
        through = f" {rule.through}" if rule.through else ""
        granted = f", given by {rule.granted_by}" if rule.granted_by else ""
        since = f" since {format_seconds(rule.since)}" if rule.since else ""
        print(f"{rule.permission:<5} {rule.rule}{through}{granted}{since}")
    if not rules:
        print(f"{options.principal} may not read this entry")
    return 0 if rules else 1


def _access_rules(options: argparse.Namespace) -> list[AccessRule]:
    from pgcontext.text.ids import is_prefix, parse_id

    settings = _load_settings()
    try:
        entry_id = parse_id(options.entry)
    except ValueError as error:
        raise StartRefused(f"ENTRY {error}") from None
    if is_prefix(entry_id):
        raise StartRefused("ENTRY must be a whole id")
    who = (entry_id, options.principal, options.group)
    with _start_failures("The storage cannot be read"):
        if settings.storage_backend == "postgresql":
            from pgcontext.storage.postgres import operating as postgres

            return postgres.explain_access(settings.postgres_options(), *who)
        from pgcontext.storage.sqlite import operating as sqlite

        return sqlite.explain_access(settings.db_path.expanduser(), settings.access_policy(), *who)


class _StartFailed(Exception):
    """Something that the server needs is not there; the text says what."""


@contextmanager
def _start_failures(what: str) -> Iterator[None]:
    try:
        yield
    except (StartRefused, PgcontextError):
        raise
    except Exception as error:
        logging.getLogger(__name__).debug(what, exc_info=True)
        raise _StartFailed(f"{what}: {error}") from error
