"""``stopwise oracle``: the lower bound and the oracle weights of a problem."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from stopwise.cli.main import app


@app.command()
def oracle(
    problem: Annotated[
        str,
        typer.Argument(
            help="best-arm, best-arm:epsilon=0.1, thresholding:threshold=0.5, minimum-threshold:..., "
            "any-low-arm:threshold=0, any-sign, any-half-space:normals=[[0.8,0.2],[0.2,0.8]], "
            "all-half-spaces:normals=..., sphere:radius=1"
        ),
    ],
    means: Annotated[str, typer.Option(help="The arms' means, between commas: 0.5,0.45,0.4")],
    family: Annotated[
        str, typer.Option(help="gaussian, gaussian:variance=0.25, bernoulli, poisson, ...")
    ] = "gaussian",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print a problem's correct answers, lower bound and oracle weights at given means."""
    import stopwise as sw
    from stopwise.cli.spelling import parse_family, parse_means, parse_problem

    numbers = parse_means(means)
    found = sw.oracle(parse_problem(problem, len(numbers)), numbers, parse_family(family))
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    _print(found)


def _print(found: object) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    facts = Table.grid(padding=(0, 2))
    for name, value in found._summary():  # type: ignore[attr-defined]
        facts.add_row(name, value)
    console.print(facts)
    header, rows = found._rows()  # type: ignore[attr-defined]
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    console.print(table)
