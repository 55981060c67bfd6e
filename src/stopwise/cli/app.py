"""The ``stopwise`` command, to which each group of commands adds its own."""

from __future__ import annotations

from typing import Annotated

import typer

# options of several commands
DEFAULT = "sqlite:///stopwise.db"
Storage = Annotated[
    str,
    typer.Option(
        envvar="STOPWISE_STORAGE",
        metavar="ADDRESS",
        help="FILE.db, sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(
    help="Which experiment next, and when may I stop? Active sequential testing with guarantees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes and colours would double the time to the first word
    context_settings={"max_content_width": 120},
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
