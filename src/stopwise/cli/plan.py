"""``stopwise plan``: how many samples an experiment will take."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.cli.app import app
from stopwise.cli.names import SPELLED
from stopwise.core.errors import BadArgument

if TYPE_CHECKING:
    from stopwise.studies.amounts import Guess
    from stopwise.studies.forecast import Forecast

PAIRED_RUNS = 1000
KINDS = (".png", ".pdf", ".svg")
EPILOG = (
    "Example: two web pages that convert at 5 and 6 %, and a third of which little is known. "
    "stopwise plan best-arm --means 5%,6%,2%..5% --family bernoulli --picture plan.png"
    "\n\n"
    f"{SPELLED}"
)


@app.command(epilog=EPILOG)
def plan(
    problem: Annotated[
        str, typer.Argument(help="name, or name:option=value,... such as best-arm:epsilon=0.01")
    ],
    *,
    means: Annotated[
        str | None,
        typer.Option(help="Your guess of each arm's mean: a number, 2.4%, or a range 0.40..0.48"),
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option(
            help="In place of means, pilot data to resample: a CSV file, a column an arm."
        ),
    ] = None,
    deviations: Annotated[
        str | None,
        typer.Option(
            help="Standard deviations: 20, or 20,25. For gaussian, and bounded (Beta samples)."
        ),
    ] = None,
    family: Annotated[
        str, typer.Option(help="bernoulli, bounded, gaussian:variance=unknown, poisson, ...")
    ],
    delta: Annotated[
        str, typer.Option(help="How often the answer may be wrong: 0.05, or 5%.")
    ] = "0.05",
    strategies: Annotated[
        str | None,
        typer.Option(
            help="Names between commas; by default sticky-track-and-stop,track-and-stop,uniform"
        ),
    ] = None,
    stopping: Annotated[
        str | None,
        typer.Option(help="When the evidence is enough.", show_default="what suits the family"),
    ] = None,
    costs: Annotated[
        str | None, typer.Option(help="What a sample of each arm costs: 2.5, or 1,1,2.5")
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(help="Runs of each strategy (and draw); by default what takes a few seconds."),
    ] = None,
    draws: Annotated[
        int, typer.Option(help="If there are ranges: how many means to draw from them.")
    ] = 20,
    seed: Annotated[int, typer.Option(help="The numbers depend on this alone.")] = 1,
    max_rounds: Annotated[
        int | None,
        typer.Option(
            help="Samples after which a run ends undecided [10 million; ranges 1 million]"
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads; by default one for each processor.")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Also say which difference can be told with so many samples."),
    ] = None,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="The rows of the pilot data are items that all arms had (docs/paired.md).",
        ),
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the forecast into this file (png, pdf, svg).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Say before an experiment how many samples it will take, from a guess of the means."""
    from stopwise.core import spelling
    from stopwise.core.checks import number
    from stopwise.studies.planning import plan as forecast

    guesses = _guesses(means, pilot)
    if paired:
        chosen = spelling.said_family(family), number("delta", delta)
        _plan_pairs(problem, guesses, *chosen, repetitions or PAIRED_RUNS, seed, as_json)
        return
    if picture is not None:
        check_picture(picture)
    found = forecast(
        spelling.problem(problem, len(guesses)),
        guesses,
        family=spelling.said_family(family),
        deviations=None if deviations is None else _one_or_each("deviations", deviations),
        strategies=None if strategies is None else read_strategies(strategies),
        stopping=None if stopping is None else spelling.stopping(stopping),
        delta=delta,
        costs=None if costs is None else _one_or_each("costs", costs),
        repetitions=repetitions,
        draws=draws,
        seed=seed,
        max_rounds=max_rounds,
        workers=workers,
    )
    told = None if samples is None else found.detectable(samples)
    if as_json:
        more = {} if told is None else {"detectable": told.to_dict()}
        typer.echo(json.dumps({**found.to_dict(), **more}, indent=2))
    else:
        _print(found, str(told or ""))
    if picture is not None:
        save_picture(found, picture)


def _plan_pairs(
    problem: str,
    columns: Any,
    family: Any,
    delta: float,
    repetitions: int,
    seed: int,
    as_json: bool,
) -> None:
    """How many items a paired campaign needs, if these are typical ones."""
    import numpy as np

    from stopwise.core import spelling
    from stopwise.studies.paired import simulate_paired

    if not isinstance(columns, dict):
        hint = "Means do not say how often two options differ on an item."
        raise BadArgument("paired", "--means", "--pilot FILE with a row for each item", hint)
    sizes = {label: len(column) for label, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise BadArgument("pilot", sizes, "as many values of each arm: a row is an item")
    table = np.column_stack(list(columns.values()))
    asked = spelling.problem(problem, len(columns))
    runs = {"delta": delta, "repetitions": repetitions, "seed": seed}
    found = simulate_paired(table, family=family, problem=asked, **runs)  # type: ignore[arg-type]
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    typer.echo(repr(found))
    typer.echo(
        f"If the {len(table):,} items of the pilot data are typical. Few of them say little: the "
        "differences that they show by chance are taken for true. The answer is about items like these."
    )


def read_guesses(text: str) -> list[Guess]:
    """Numbers and ranges low..high, between commas."""
    from stopwise.core.checks import from_text

    found: list[Guess] = []
    for part in text.split(","):
        low, dots, high = part.partition("..")
        try:
            first = from_text(low)
            found.append((first, from_text(high)) if dots else first)
        except (ValueError, ArithmeticError):
            allowed = "numbers or ranges low..high between commas, such as 0.5,45%,0.40..0.48"
            raise BadArgument("means", text, allowed) from None
    return found


def read_strategies(text: str) -> dict[str, Any]:
    """Strategies between commas; an option (name=value) belongs to the one before it."""
    from stopwise.core import spelling

    found: dict[str, Any] = {}
    for part in re.split(r",(?![^\[]*\])(?![a-z_]+=)", text):
        name = part.strip()
        if name in found:
            raise BadArgument("strategies", text, "each strategy once")
        found[name] = spelling.strategy(name, "strategies")
    return found


def _guesses(means: str | None, pilot: Path | None) -> Any:
    """Means, or a file of pilot data."""
    from stopwise.studies.pilot import read_pilot

    if (means is None) == (pilot is None):
        given = "both" if means else "neither"
        raise BadArgument("means", given, "either --means or --pilot FILE")
    return read_guesses(str(means)) if pilot is None else read_pilot(pilot)


def _one_or_each(name: str, text: str) -> float | list[float]:
    from stopwise.core import spelling

    found = spelling.numbers(name, text)
    return found if len(found) > 1 else found[0]


def check_picture(path: Path) -> None:
    """Refuse before the work, not after it."""
    if path.suffix.lower() not in KINDS:
        raise BadArgument("picture", str(path), f"a file name that ends with {', '.join(KINDS)}")
    if not path.parent.is_dir():
        raise BadArgument("picture", str(path), "a file in a folder that exists")
    try:
        import matplotlib as mpl
    except ImportError:
        hint = 'Install "stopwise[plots]".'
        raise BadArgument("picture", str(path), "an environment with matplotlib", hint) from None
    mpl.use("Agg")  # a file needs no window


def save_picture(found: Any, path: Path) -> None:
    """What it plots, as a file."""
    try:
        found.plot().savefig(path)
    except OSError as error:
        allowed = f"a file that can be written ({error.strerror})"
        raise BadArgument("picture", str(path), allowed) from None


def _print(found: Forecast, last: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    facts = Table.grid(padding=(0, 2))
    for name, value in found.facts():
        facts.add_row(name, value)
    console.print(facts)
    for title, header, rows in found.tables():
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, title=title)
        table.title_justify = "left"
        longest = [max(map(len, column)) for column in zip(*rows, strict=True)]
        wide = 2 + sum(max(w, len(h)) + 2 for w, h in zip(longest, header, strict=True))
        over = max(wide - console.width, 0)  # then names are broken, numbers never
        room = max(longest[0] - over, min(longest[0], 10))
        for place, name in enumerate(header):
            least = longest[place] if place else room
            text = _broken(name, max(10, least) if over else len(name))
            side: Any = "right" if place else "left"
            table.add_column(text, justify=side, min_width=least, overflow="fold")
        for first, *others in rows:
            table.add_row(_broken(first, room), *others)
        console.print(table, crop=False)
    for note in filter(None, [*found.notes(), last]):
        console.print(note)


def _broken(name: str, width: int) -> str:
    return "\n".join(textwrap.wrap(name, width)) or name
