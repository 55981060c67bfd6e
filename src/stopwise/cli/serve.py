"""``stopwise serve`` and ``stopwise token``: campaigns over HTTP."""

from __future__ import annotations

import json
import os
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
    always_open: Annotated[
        bool, typer.Option("--open", help="Need no token, ever: whoever reaches it may do all.")
    ] = False,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    webhook: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Post decisions, signed with STOPWISE_WEBHOOK_SECRET."),
    ] = None,
) -> None:
    """Serve the campaigns of a storage, with a page, until Ctrl-C."""
    from stopwise.cli.serving import log_lines, refuse_to_be_open, who_gets_in
    from stopwise.web.tokens import Tokens

    store = _store(storage)
    store.check_file()
    tokens, names = Tokens(store).all(), [name.lower() for name in allow_host or []]
    if not always_open:
        refuse_to_be_open(host, names, tokens, store)
    _service()
    from stopwise.campaign import rounds
    from stopwise.web import server
    from stopwise.web.app import create_app

    hosts = {"127.0.0.1", "localhost", "[::1]", host.lower(), *names}
    application = create_app(store, frozenset(hosts), always_open)
    if webhook is not None:
        from stopwise.web.webhook import Webhook

        Webhook(store, webhook, os.environ.get("STOPWISE_WEBHOOK_SECRET", "")).start()
    listener = _listen(host, port)
    where = f"http://{host if ':' not in host else f'[{host}]'}:{listener.getsockname()[1]}"
    log_lines(log_level)
    needs = "open" if always_open or not tokens else "tokens needed"
    typer.echo(
        f"stopwise serves {store.shown} at {where} ({needs}). "
        f"{who_gets_in(host, names, tokens, always_open)}",
        err=True,
    )
    _collect_seldom()
    rounds.expect_days()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # after a graceful end
    server.run(application, listener, behind_proxy=bool(names))


def _collect_seldom() -> None:
    """Going through all that was imported takes 0.1 s, in which nobody is answered: not every second."""
    import gc

    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 20)


def _service() -> None:
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise BadArgument(
            "serve", "no fastapi", "an environment with the service", 'Install "stopwise[service]".'
        ) from error


def _store(storage: str) -> Store:
    from stopwise.campaign.names import storage_address
    from stopwise.campaign.storage.store import Store

    return Store(storage_address(storage))


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
