"""The ``stopwise`` command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from stopwise.errors import StopwiseError

app = typer.Typer(
    help="Which experiment next, and when may I stop? Active sequential testing with guarantees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from stopwise import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command line; an error of the user's is one clear line and exit code 2."""
    from stopwise.cli import campaign, oracle, plan, reproduce, serve, study  # noqa: F401

    try:
        app()
    except StopwiseError as error:
        typer.echo(f"stopwise: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    from stopwise.cli.main import main as run  # not this copy of the module: verbs register there

    run()
