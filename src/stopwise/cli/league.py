"""``stopwise league``: strategies against each other."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stopwise.cli.app import Json, app
from stopwise.cli.output import warn

if TYPE_CHECKING:
    from stopwise.reproduce.league.standings import Standings

EPILOG = (
    "Names are separated by commas. A strategy is one of the league's, spelled as in study files "
    "(track-and-stop:tracking=D), or a Python file that defines one. Runs are kept: a second call "
    "computes what is new. Ctrl-C and kill are safe. The default size takes about ten minutes on two "
    "processors, --full some hours."
)


@app.command(epilog=EPILOG)
def league(
    instances: Annotated[str, typer.Option(help="Names.", show_default="a selection")] = "",
    strategies: Annotated[
        str, typer.Option(help="Names or files.", show_default="a selection")
    ] = "",
    rules: Annotated[str, typer.Option(help="Stopping rules.", show_default="wealth")] = "",
    deltas: Annotated[str, typer.Option(help="Error probabilities.")] = "0.1,0.05,0.01",
    repetitions: Annotated[
        int | None, typer.Option(help="Runs of each.", show_default="100; 1000 with --full")
    ] = None,
    seed: Annotated[int, typer.Option(help="Every number depends on it alone.")] = 0,
    full: Annotated[
        bool, typer.Option("--full", help="All instances, strategies and rules.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Threads.", show_default="one a processor")
    ] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    folder: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("league"),
    as_json: Json = False,
) -> None:
    """Who needs the fewest samples? Simulate strategies on the literature's instances; write a page."""
    from stopwise.core.spelling import numbers
    from stopwise.reproduce.league.league import League
    from stopwise.studies.dask import executor_at

    chosen = League(
        _names(instances),
        _names(strategies),
        _names(rules),
        deltas=numbers("deltas", deltas),
        repetitions=repetitions,
        seed=seed,
        full=full,
        folder=folder,
    )
    with executor_at(dask) as executor:
        if not chosen.run(workers, executor, warn=warn):
            typer.echo("interrupted; the same command goes on", err=True)
            sys.exit(130)
    found = chosen.standings()
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        _print(found)
    typer.echo(f"wrote {chosen.page()}", err=as_json)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _print(found: Standings) -> None:
    from stopwise.core.tables import text_table
    from stopwise.reproduce.league.page import ratio_text, shown_delta

    delta = shown_delta(found)
    for group in found.groups:
        names = [each.name for each in found.instances if each.group == group]
        for column in found.columns:
            strategies, table, means = found.summary(group, column, delta)
            rows = [
                [
                    who,
                    ratio_text(mean),
                    *("-" if each is None else f"{each.summary.mean:,.0f}" for each in lines),
                ]
                for who, lines, mean in zip(strategies, table, means, strict=True)
            ]
            if rows:
                typer.echo(f"\n{group}: mean samples with {column}, delta = {delta:g}")
                typer.echo(text_table(["strategy", "times the best", *names], rows))
