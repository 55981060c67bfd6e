"""``stopwise oracle``: the lower bound and the oracle weights of a problem."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.cli.app import app
from stopwise.cli.names import SPELLED

if TYPE_CHECKING:
    from stopwise.oracles.values import Oracle

EPILOG = (
    "Examples of problems: best-arm:epsilon=0.1, minimum-threshold:threshold=0.5, "
    f"any-half-space:normals=[[0.8,0.2],[0.2,0.8]]. {SPELLED}"
)


@app.command(epilog=EPILOG)
def oracle(
    problem: Annotated[
        str,
        typer.Argument(help="name, or name:option=value,..."),
    ],
    means: Annotated[str, typer.Option(help="The arms' means, between commas: 0.5,0.45,0.4")],
    family: Annotated[
        str, typer.Option(help="gaussian, gaussian:variance=0.25, bernoulli, poisson, ...")
    ],
    deviations: Annotated[
        str | None,
        typer.Option(help="Of gaussian:variance=unknown, each arm's standard deviation: 1,5"),
    ] = None,
    costs: Annotated[
        str | None, typer.Option(help="Of a sample of each arm, to be minimised: 1,1,2.5")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print a problem's correct answers, lower bound and oracle weights at given means."""
    import stopwise as sw
    from stopwise.core import spelling

    numbers = spelling.numbers("means", means)
    found = sw.oracle(
        spelling.problem(problem, len(numbers)),
        numbers,
        family=_family(family, deviations),
        costs=None if costs is None else spelling.numbers("costs", costs),
    )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    _print(found)


def _family(text: str, deviations: str | None) -> Any:
    from stopwise.core import spelling
    from stopwise.core.errors import BadArgument

    family = spelling.family(text)
    if deviations is None:
        return family
    if not hasattr(family, "seen"):
        raise BadArgument("deviations", deviations, f"nothing with {text}, which has its own")
    return family.seen(spelling.numbers("deviations", deviations))


def _print(found: Oracle) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    facts = Table.grid(padding=(0, 2))
    for name, value in found.summary_rows():
        facts.add_row(name, value)
    console.print(facts)
    header, rows = found.weight_rows()
    if len(header) > 4:  # many oracle answers: one line for each
        header = ["answer", *(f"arm {k}" for k in range(found.means.size))]
        rows = [
            [repr(answer), *(f"{share:.3f}" for share in weights)]
            for answer, weights in zip(found.answers, found.weights, strict=True)
        ]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in header:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)
