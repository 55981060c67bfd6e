"""``stopwise warm``: compile ahead what is mostly used."""

from __future__ import annotations

from typing import Annotated

import typer

from stopwise.cli.app import app
from stopwise.cli.names import SPELLED

PROBLEMS = [  # what compiled code depends on is the kind, not the numbers
    "best-arm",
    "any-low-arm:threshold=0.5",
    "minimum-threshold:threshold=0.5",
    "thresholding:threshold=0.5",
]
FAMILIES = ["bernoulli", "gaussian"]
STRATEGIES = ["track-and-stop", "sticky-track-and-stop", "uniform"]


@app.command(epilog=f"Example: stopwise warm best-arm --family poisson\n\n{SPELLED}")
def warm(
    problems: Annotated[
        list[str] | None, typer.Argument(help="Problems; by default the usual ones.")
    ] = None,
    families: Annotated[
        list[str] | None,
        typer.Option("--family", help="May be repeated; by default bernoulli and gaussian."),
    ] = None,
) -> None:
    """Compile the rounds of common settings now, so that nobody waits for them later."""
    from stopwise.core import spelling
    from stopwise.core.compile import kernels
    from stopwise.core.waiting import meanwhile
    from stopwise.engine.design import prepare, with_defaults
    from stopwise.engine.worker import Worker
    from stopwise.studies.progress import progress_bar

    settings = [
        with_defaults(
            spelling.problem(problem, 2), spelling.family(family), spelling.strategy(name)
        )
        for family in families or FAMILIES
        for problem in problems or PROBLEMS
        for name in STRATEGIES
    ]
    with meanwhile(), progress_bar("settings", len(settings), patience=0.0) as report:
        for done, setting in enumerate(settings, start=1):
            Worker(prepare(setting, None, (0.05,), 2))
            report(done)
    typer.echo(f"{len(settings)} settings are compiled, in {kernels.cache_folder()}")
