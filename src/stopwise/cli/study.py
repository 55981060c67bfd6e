"""``stopwise study``: a researcher's own study, from one file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stopwise.cli.app import Json, app
from stopwise.cli.output import print_table, warn
from stopwise.core.errors import BadArgument, StopwiseError

if TYPE_CHECKING:
    from stopwise.studies.study import Study

study = typer.Typer(
    help="Many simulations from one file: run, resume, collect and report.", no_args_is_help=True
)
app.add_typer(study, name="study")

File = Annotated[Path, typer.Argument(help="The study's TOML file.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option(help="Where blocks are kept.", show_default="FILE with .study for .toml"),
]

STARTER = """\
# A study: every instance x strategy x stopping rule is simulated; all deltas come from the same runs.
#   stopwise study run {name}       computes what is missing; interrupt it at any time
#   stopwise study status {name}    how much is done
#   stopwise study collect {name}   all results as one Parquet file
#   stopwise study report {name}    one HTML page

name = "best of four coins"
repetitions = 200
seed = 1
deltas = [0.1, 0.01]
# max_rounds = 10_000_000   # runs that come here are "undecided" and counted
# block = 10                # repetitions that are stored together

[problem]                   # the number of arms is that of the means
kind = "best-arm"           # thresholding, minimum-threshold, any-low-arm, any-sign, any-half-space,
epsilon = 0.1               # all-half-spaces, sphere, product, cells

[family]
kind = "bernoulli"          # gaussian (variance), poisson, exponential, bounded (low, high), ...

[[instances]]
name = "one good coin"
means = [0.6, 0.4, 0.4, 0.3]
# deviations = 0.2          # gaussian, bounded; or in place of the means: pilot = "scores.csv"

[[instances]]               # drawn once, from the study's seed
name = "random coins"
law = "uniform"             # uniform (low, high), normal (mean, deviation), beta (a, b)
low = 0.2
high = 0.8
arms = 4
count = 2

[[strategies]]
kind = "sticky-track-and-stop"

[[strategies]]
kind = "track-and-stop"
tracking = "D"
name = "D-tracking"

[[strategies]]
kind = "uniform"            # a yardstick; fixed-weights and oracle-weights are others

[[stopping]]
kind = "wealth"             # proven, and the sharpest; mixture, conservative, stylized are others
"""


@study.command()
def new(file: File) -> None:
    """Write a commented file to start from."""
    if file.exists():
        raise BadArgument("file", str(file), "a file that does not exist yet")
    try:
        file.write_text(STARTER.format(name=shlex.quote(file.name)))
    except OSError as error:
        reason = error.strerror or error
        raise StopwiseError(
            f"{file}: cannot be written ({reason}). Choose another place."
        ) from None
    typer.echo(f"wrote {file}; next: stopwise study run {shlex.quote(str(file))}")


@study.command()
def run(
    file: File,
    workers: Annotated[
        int | None, typer.Option(help="Threads.", show_default="one a processor")
    ] = None,
    shard: Annotated[
        str, typer.Option(help="i/n: only every n-th block, from the i-th (job arrays).")
    ] = "1/1",
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler: tcp://host:8786")
    ] = None,
    folder: Folder = None,
) -> None:
    """Compute what is missing. Ctrl-C and kill are safe: run again to go on."""
    from stopwise.studies.dask import executor_at

    loaded, part = _load(file, folder), _shard(shard)
    with executor_at(dask) as executor:
        status = loaded.run(workers, executor, part, warn=warn)
    typer.echo(status._note())
    if status.interrupted:
        typer.echo(
            f"interrupted; go on with: stopwise study run {shlex.quote(str(file))}", err=True
        )
        sys.exit(130)


@study.command()
def status(file: File, folder: Folder = None, as_json: Json = False) -> None:
    """How much of each case is stored."""
    found = _load(file, folder).status()
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        print_table(*found.table())
        typer.echo(found._note())


@study.command()
def collect(
    file: File,
    out: Annotated[
        Path | None, typer.Option(help="The Parquet file.", show_default="FOLDER/results.parquet")
    ] = None,
    folder: Folder = None,
) -> None:
    """Write all results into one Parquet file, and print their summary."""
    loaded = _load(file, folder)
    results = loaded.collect()
    target = loaded.folder / "results.parquet" if out is None else out
    results.to_parquet(target)
    print_table(*results.brief())
    typer.echo("ratio: mean/(T* log 1/delta); more columns and plots: stopwise study report")
    typer.echo(f"wrote {target}")


@study.command()
def report(
    file: File,
    out: Annotated[
        Path | None, typer.Option(help="The HTML file.", show_default="FOLDER/report.html")
    ] = None,
    folder: Folder = None,
) -> None:
    """Write one self-contained HTML page with tables and plots."""
    typer.echo(f"wrote {_load(file, folder).report(out)}")


@study.command()
def slurm(
    file: File,
    jobs: Annotated[int, typer.Option(help="How many jobs share the blocks.", min=1)] = 10,
    cpus: Annotated[int, typer.Option(help="Processors of each job.", min=1)] = 4,
    hours: Annotated[int, typer.Option(help="Time limit of each job.", min=1)] = 4,
    folder: Folder = None,
) -> None:
    """Print a batch script for a job array; submit it with sbatch."""
    name = _load(file, folder).spec.name
    where = "" if folder is None else f" --folder {shlex.quote(str(folder.resolve()))}"
    path = shlex.quote(str(file.resolve()))
    typer.echo(
        f"""#!/bin/bash
#SBATCH --job-name={shlex.quote("stopwise " + name)}
#SBATCH --array=1-{jobs}
#SBATCH --cpus-per-task={cpus}
#SBATCH --time={hours}:00:00
# Jobs that die lose the blocks in flight only: submit again to go on.
# When all are done: stopwise study collect {path}{where}
stopwise study run {path}{where} --shard "$SLURM_ARRAY_TASK_ID/{jobs}" --workers {cpus}"""
    )


def _load(file: Path, folder: Path | None) -> Study:
    from stopwise.studies.study import Study

    return Study.load(file, folder)


def _shard(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit()):
        raise BadArgument("shard", text, "i/n with 1 <= i <= n, such as 3/10")
    return int(part), int(parts)
