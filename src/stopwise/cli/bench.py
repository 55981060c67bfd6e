"""``stopwise bench``: which command is faster? Interleaved runs until the comparison is clear."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.cli.app import Json, app
from stopwise.core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from stopwise.timing.race import Race, Rules

WIDTH = 40  # of the bar
UNDECIDED, STOPPED = 1, 130  # exit codes
SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
EPILOG = (
    "Example: stopwise bench --epsilon 2% -- 'gzip -c data' -- 'zstd -c data'. Blocks of one run of "
    "each command, in random order, so that what the machine does meanwhile meets all of them. The "
    "answer is one command, proven to be faster, or that those left differ by less than epsilon; all "
    "that is said holds with probability 1 - delta. A command is given to sh only if it has something "
    "for a shell."
    "\n\n"
    "A claim that the blocks' dependence on each other could explain is not made: the machine is not "
    "steady, and the comparison goes on."
    "\n\n"
    "Exit codes: 0 decided, 1 undecided, 2 an error, 130 Ctrl-C."
)


@app.command(epilog=EPILOG)
def bench(
    commands: Annotated[
        list[str], typer.Argument(help="'COMMAND A' 'COMMAND B', or -- A ARGS -- B ARGS")
    ],
    *,
    delta: Annotated[float, typer.Option(help="How often a claim may be wrong.")] = 0.05,
    epsilon: Annotated[
        str, typer.Option(help="Differences below this do not matter: 2%; linear: a number.")
    ] = "2%",
    warmup: Annotated[int, typer.Option("--warmup", "-w", help="Runs of each beforehand.")] = 3,
    min_runs: Annotated[int, typer.Option(help="Runs of each before anything is said.")] = 10,
    budget: Annotated[str, typer.Option(help="When to give up: 90s, 5m, 1h.")] = "5m",
    metric: Annotated[
        str, typer.Option(help="wall, user, or printed: the last word on standard output.")
    ] = "wall",
    goal: Annotated[str, typer.Option(help="min or max: what is better.")] = "min",
    scale: Annotated[str, typer.Option(help="log: ratios count; linear: differences.")] = "log",
    largest: Annotated[
        float | None,
        typer.Option(
            help="A run counts as at most so many times slower (linear: so much worse) than the best of "
            "its block; less needs fewer runs.",
            show_default="50; linear: no limit, normal differences",
        ),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", "-n", help="A command's name; once for each.")
    ] = None,
    setup: Annotated[str | None, typer.Option(help="Run this once, before all.")] = None,
    prepare: Annotated[str | None, typer.Option(help="Run this before each run.")] = None,
    timeout: Annotated[str | None, typer.Option(help="The longest that a run may take.")] = None,
    no_shell: Annotated[bool, typer.Option("--no-shell", "-N", help="Never use a shell.")] = False,
    ignore_failure: Annotated[
        bool, typer.Option("--ignore-failure", "-i", help="Measure runs that fail, too.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the order within blocks.")] = 0,
    export: Annotated[Path | None, typer.Option(help="Write JSON to this file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw all runs: .png, .pdf, .svg")] = None,
    as_json: Json = False,
) -> None:
    """Which of several commands is faster? Stops when that is clear, or nearly equal is proven."""
    from stopwise.cli.plan import check_picture, save_picture
    from stopwise.timing.commands import METRICS, Command, measure
    from stopwise.timing.race import Race, Rules
    from stopwise.timing.report import BenchReport

    if metric not in METRICS:
        raise BadArgument("metric", metric, ", ".join(METRICS))
    if picture is not None:
        check_picture(picture)
    rules = Rules(
        *(delta, read_epsilon(epsilon, scale), warmup, min_runs, seconds("budget", budget)),
        *(scale, goal, seed, largest),
    )
    limit = None if timeout is None else seconds("timeout", timeout)
    groups = split_commands(commands)
    labels = read_names(name, groups)
    shell = not no_shell
    crew = [
        Command(label, _arguments(group, shell), metric, limit, ignore_failure)
        for label, group in zip(labels, groups, strict=True)
    ]
    ready = _helper("prepare", prepare, shell)
    _helper("setup", setup, shell)()
    race = Race(labels, rules)
    with _display(rules, metric != "printed", quiet=as_json) as watch:
        race.run([lambda each=each: measure(each) for each in crew], ready, watch)  # type: ignore[misc]
    report = BenchReport(race, metric != "printed")
    _finish(report, export, as_json)
    if picture is not None:
        save_picture(report, picture)
    if race.ended == "interrupted":
        raise typer.Exit(STOPPED)
    raise typer.Exit(0 if race.ended == "decided" else UNDECIDED)


def split_commands(given: Sequence[str]) -> list[list[str]]:
    """Groups between ``--``; without any, each argument is a command."""
    if "--" not in given:
        groups = [[each] for each in given]
    else:
        groups = [[]]
        for word in given:
            if word == "--":
                groups.append([])
            else:
                groups[-1].append(word)
        groups = [group for group in groups if group]
    if len(groups) < 2:
        hint = "Write stopwise bench [OPTIONS] -- 'COMMAND A' -- 'COMMAND B'."
        raise BadArgument("commands", [" ".join(group) for group in groups], "two or more", hint)
    return groups


def read_names(names: Sequence[str] | None, groups: Sequence[Sequence[str]]) -> list[str]:
    """What the commands are called: their own text, unless they have names."""
    if not names:
        return [" ".join(group) for group in groups]
    if len(names) != len(groups):
        raise BadArgument("name", list(names), f"{len(groups)} names, one for each command")
    return list(names)


def read_epsilon(text: str, scale: str) -> float:
    """2% and 0.02 are the same; on the linear scale a number."""
    percent = text.strip().endswith("%")
    try:
        found = float(text.strip().rstrip("%"))
    except ValueError:
        raise BadArgument("epsilon", text, "a number such as 2% or 0.02") from None
    if percent and scale == "linear":
        raise BadArgument("epsilon", text, "a number in the metric's unit on the linear scale")
    return found / 100.0 if percent else found


def seconds(name: str, text: str) -> float:
    """90, 90s, 5m, 1.5h."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*(ms|s|m|min|h|)\s*", text)
    try:
        assert found is not None
        number = float(found[1])
    except (AssertionError, ValueError):
        raise BadArgument(name, text, "a time such as 90s, 5m or 1h") from None
    if number <= 0.0:
        raise BadArgument(name, text, "a time above 0")
    return number * SECONDS[found[2]]


def _arguments(group: Sequence[str], shell: bool) -> tuple[str, ...]:
    from stopwise.timing.commands import read_command

    return read_command(group, shell)


def _helper(label: str, text: str | None, shell: bool) -> Callable[[], object]:
    """A command that is run and not measured; nothing if there is none."""
    from stopwise.timing.commands import Command, measure

    if text is None:
        return lambda: None
    command = Command(f"--{label} {text!r}", _arguments([text], shell))
    return lambda: measure(command)


def _finish(report: Any, export: Path | None, as_json: bool) -> None:
    from stopwise.core.tables import plain, text_table

    found = json.dumps(plain(report.to_dict()), indent=2, ensure_ascii=False)
    if export is not None:
        try:
            export.write_text(found + "\n", encoding="utf-8")
        except OSError as error:
            allowed = f"a file that can be written ({error.strerror})"
            raise BadArgument("export", str(export), allowed) from None
    if as_json:
        typer.echo(found)
    else:
        typer.echo(f"{text_table(*report.table())}\n\n{report.sentence}")


class _Nothing:
    """No display: where nobody looks, or standard error is no terminal."""

    def __enter__(self) -> Callable[[Race], None]:
        return lambda race: None

    def __exit__(self, *_: object) -> None:
        pass


class _Live:
    """The table, the bar and the time, redrawn a few times a second."""

    def __init__(self, rules: Rules, timed: bool) -> None:
        from rich.console import Console
        from rich.live import Live

        self.rules, self.timed = rules, timed
        console = Console(stderr=True, highlight=False)
        self.live = Live("warming up", console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Callable[[Race], None]:
        self.live.__enter__()
        return lambda race: self.live.update(drawing(race, self.timed))

    def __exit__(self, *error: Any) -> None:
        self.live.__exit__(*error)


def _display(rules: Rules, timed: bool, quiet: bool) -> Any:
    return _Nothing() if quiet or not sys.stderr.isatty() else _Live(rules, timed)


def drawing(race: Race, timed: bool) -> RenderableType:
    """Where a race stands, for the terminal."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from stopwise.timing.report import BenchReport

    report = BenchReport(race, timed)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    header, rows = report.table()
    for place, title in enumerate(header):
        table.add_column(title, overflow="fold", justify="right" if 0 < place < 4 else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    full = round(report.progress * WIDTH)
    bar = (
        ("█" * full, "cyan"),
        ("░" * (WIDTH - full), "dim"),
        f" {report.progress:.0%} of the evidence",
    )
    spent = f"{race.seconds:.0f} s of {race.rules.budget:.0f} s, {report.verdict.items:,} blocks"
    return Group(table, Text.assemble(*bar), Text(spent, style="dim"))
