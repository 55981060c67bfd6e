"""Run the ``stopwise`` command."""

from __future__ import annotations

import sys

import typer

from stopwise.cli.app import app
from stopwise.core.errors import StopwiseError

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; an error of the user's is one clear line and its exit code."""
    from stopwise.cli import (  # noqa: F401
        bench,
        campaign,
        league,
        lifecycle,
        names,
        oracle,
        plan,
        reproduce,
        serve,
        study,
        warm,
    )

    try:
        app()
    except StopwiseError as error:
        typer.echo(f"stopwise: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
