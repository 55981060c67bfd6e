"""``stopwise reproduce``: the paper's table and figures, computed anew."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from stopwise.cli.app import app
from stopwise.core.waiting import waiting

if TYPE_CHECKING:
    from stopwise.reproduce import Reproduction

EPILOG = (
    "Each writes pictures (PNG, SVG), its data (Parquet) and summary.json to DIR/NAME, and prints what "
    "the paper says beside what was measured. On two processors table1, figure1 and figure3 take "
    "seconds, figure2 and figure4 a minute, figure5 a quarter of an hour; with --full figure2 takes "
    "ten minutes and figure5 a night. The first run of figure5 also compiles for some minutes."
)


@app.command(epilog=EPILOG)
def reproduce(
    name: Annotated[
        str, typer.Argument(help="table1, figure1, figure2, figure3, figure4, figure5, or all")
    ],
    repetitions: Annotated[
        int | None, typer.Option(help="Runs, where there are many; by default what takes minutes.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Every number depends on it alone.")] = 2019,
    workers: Annotated[
        int | None, typer.Option(help="Threads; by default one for each processor.")
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the files go.")] = "out/paper",
    full: Annotated[bool, typer.Option("--full", help="As many runs as the paper.")] = False,
) -> None:
    """Compute the paper's table and figures anew, and compare."""
    from stopwise.reproduce import NAMES, reproduce as compute

    for each in NAMES if name == "all" else (name,):
        start = time.monotonic()
        with waiting(f"computing {each}"):
            done = compute(each, repetitions, seed, workers, out, full)
        _print(done, time.monotonic() - start)


def _print(done: Reproduction, seconds: float) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(title=done.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    header, rows = done.table()
    for column in header:
        table.add_column(column)
    for row in rows:
        table.add_row(*row, style="bold" if row[-1] == "not supported" else "")
    console.print(table)
    for note in done.notes:
        console.print(f"- {note}", markup=False)
    for file in done.files:
        console.print(str(file), markup=False, soft_wrap=True)
    console.print(f"seed {done.seed}, {seconds:.0f} s\n")
