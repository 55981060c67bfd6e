"""``stopwise serve`` and ``stopwise token``: campaigns over HTTP."""

from __future__ import annotations

import ipaddress
import json
import shlex
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.cli.app import DEFAULT, Json, Storage, app
from stopwise.core.errors import BadArgument, StopwiseError

if TYPE_CHECKING:
    from stopwise.campaign.storage.store import Store
    from stopwise.web.tokens import Tokens

token = typer.Typer(
    help="Who may use the service: create, list and revoke tokens.", no_args_is_help=True
)
app.add_typer(token, name="token")

Served = Annotated[
    str,
    typer.Argument(
        help="memory:, FILE.db, sqlite:///FILE or postgresql+psycopg://...",
        envvar="STOPWISE_STORAGE",
    ),
]


@app.command()
def serve(
    storage: Served = DEFAULT,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any free port.", min=0, max=65535)] = 8123,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further name of this service, behind a proxy; needs a token."),
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve the campaigns of a storage, with a page, until Ctrl-C."""
    uvicorn = _service()
    from stopwise.web.app import create_app
    from stopwise.web.tokens import Tokens

    store = _store(storage)
    tokens = Tokens(store)
    closed = any(each.revoked is None for each in tokens.all())
    if not closed:
        _refuse_to_be_open(host, allow_host or [], store)
    names = [name.lower() for name in (host, *(allow_host or []))]
    hosts = {"127.0.0.1", "localhost", "[::1]", *names}
    application = create_app(store, frozenset(hosts), tokens if closed else None)
    listener = _listen(host, port)
    where = f"http://{host if ':' not in host else f'[{host}]'}:{listener.getsockname()[1]}"
    _log_lines(log_level)
    typer.echo(
        f"stopwise serves {store.shown} at {where} ({'tokens needed' if closed else 'open'})",
        err=True,
    )
    _run(uvicorn, application, listener)


def _run(uvicorn: Any, application: Any, listener: Any) -> None:
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    _collect_seldom()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # after a graceful end
    uvicorn.Server(config).run(sockets=[listener])


def _refuse_to_be_open(host: str, names: list[str], store: Store) -> None:
    """Without tokens a service is for this machine only; what others can reach needs one first."""
    if names:
        given, why = f"allow_host: got {', '.join(names)!r}", "others get in by a proxy"
    elif not _loopback(host):
        given, why = f"host: got {host!r}", "others can reach it"
    else:
        return
    kept = store.address != "memory:"  # else the token would be gone before the service starts
    where = shlex.quote(store.shown) if kept else "FILE.db"
    raise StopwiseError(
        f"{given}: {why}, and there is no token in {store.shown}. Allowed without a token: --host "
        "127.0.0.1, ::1 or localhost, and no --allow-host. Create a token first: "
        f"stopwise token create NAME --role admin --storage {where}"
        f"{'' if kept else ' (memory: keeps none; serve FILE.db instead)'}"
    )


def _collect_seldom() -> None:
    """Going through all that was imported takes 0.1 s, in which nobody is answered: not every second."""
    import gc

    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 20)


def _service() -> Any:
    try:
        import fastapi  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise BadArgument(
            "serve", "no fastapi", "an environment with the service", 'Install "stopwise[service]".'
        ) from error
    return uvicorn


def _store(storage: str) -> Store:
    from stopwise.campaign.names import storage_address
    from stopwise.campaign.storage.store import Store

    return Store(storage_address(storage))


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> Any:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # with its protocol named, asyncio sends answers at once (TCP_NODELAY): else each waits 40 ms
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        reason = error.strerror or error
        raise StopwiseError(
            f"{host}:{port}: cannot listen ({reason}). Choose another --port."
        ) from None
    found.listen(1024)
    return found


def _log_lines(level: str) -> None:
    """One JSON object a line, on standard error."""
    import logging

    if level not in ("debug", "info", "warning", "error"):
        raise BadArgument("log_level", level, "debug, info, warning or error")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("stopwise.web")
    logger.setLevel(level.upper())
    logger.handlers = [handler]
    logger.propagate = False


def _tokens(storage: str) -> Tokens:
    from stopwise.web.tokens import Tokens

    return Tokens(_store(storage))


@token.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose token it is.")],
    role: Annotated[str, typer.Option(help="read, work or admin.")] = "work",
    storage: Storage = DEFAULT,
) -> None:
    """Create a token and show it, this once."""
    typer.echo(_tokens(storage).create(name, role))


@token.command("list")
def list_tokens(storage: Storage = DEFAULT, as_json: Json = False) -> None:
    """All tokens: their ids, names and roles."""
    found = _tokens(storage).all()
    if as_json:
        typer.echo(json.dumps([each._asdict() for each in found], indent=2))
        return
    for each in found:
        word = "" if each.revoked is None else "  (revoked)"
        typer.echo(f"{each.id}  {each.role:<6}{each.name}{word}")


@token.command()
def revoke(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The token's id (see list).")],
    storage: Storage = DEFAULT,
) -> None:
    """From now on the token opens nothing (running services notice within 5 s)."""
    _tokens(storage).revoke(identity)
    typer.echo(f"revoked {identity}")
