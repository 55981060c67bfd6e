"""Who takes part: instances with their sources, strategies and stopping rules, from one data file."""

from __future__ import annotations

import importlib.util
import math
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from stopwise.core import registry, spelling
from stopwise.core.errors import BadArgument, NotDefined, StopwiseError
from stopwise.engine.design import Setting, prepare
from stopwise.oracles.quantities import oracle
from stopwise.sampling.strategy import Strategy
from stopwise.studies.spec import Named

LIMIT = 100  # times T* log 1/delta: a run that has not stopped by then is undecided
LEAST_LIMIT = 100_000


class LeagueInstance(NamedTuple):
    """A question about arms with known means, and who asked it first."""

    name: str
    group: str  # questions that are compared with each other
    problem: Any
    family: Any
    means: tuple[float, ...]
    source: str


class Entrant(NamedTuple):
    """A strategy, and the stopping rule that it comes with, if any."""

    name: str
    strategy: Any
    stopping: Named | None


class Entry(NamedTuple):
    """One strategy with one stopping rule on one instance."""

    instance: LeagueInstance
    strategy: Named
    stopping: Named
    own: bool  # the rule is the strategy's own
    max_rounds: int


@cache
def _data() -> dict[str, list[dict[str, Any]]]:
    text = (Path(__file__).parent / "league.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def instances(names: Sequence[str], full: bool) -> list[LeagueInstance]:
    """Those of these names, else all (``full``) or those of the default size."""
    return [
        LeagueInstance(
            row["name"],
            row["group"],
            spelling.problem(row["question"], len(row["means"])),
            spelling.family(row["family"]),
            tuple(map(float, row["means"])),
            row["source"],
        )
        for row in _chosen("instances", names, full)
    ]


def entrants(names: Sequence[str], full: bool) -> list[Entrant]:
    """Strategies of these names; a name may also be spelled as in files, or be a Python file."""
    listed = {row["name"] for row in _data()["strategies"]}
    known = [name for name in names if name in listed]
    found = [_entrant(row) for row in _chosen("strategies", known, full) if known or not names]
    for name in names:
        if name.endswith(".py"):
            found += _from_file(Path(name))
        elif name not in listed:
            found.append(Entrant(name, spelling.strategy(name, "strategies"), None))
    return found


def rules(names: Sequence[str]) -> list[Named]:
    """Stopping rules, spelled as in files."""
    return [(name, spelling.stopping(name, "rules")) for name in names]


def _chosen(what: str, names: Sequence[str], full: bool) -> list[dict[str, Any]]:
    rows = _data()[what]
    if not names:
        return [row for row in rows if full or row.get("quick")]
    known = [row["name"] for row in rows]
    for name in names:
        if name not in known:
            raise BadArgument(what, name, f"names of the league's {what}: {', '.join(known)}")
    return [row for row in rows if row["name"] in names]


def _entrant(row: dict[str, Any]) -> Entrant:
    options = {key: row[key] for key in row if key not in ("name", "quick", "stopping")}
    rule = row.get("stopping")
    own = None if rule is None else (str(rule), spelling.stopping(rule, "stopping"))
    return Entrant(row["name"], spelling.strategy(options, "strategies"), own)


def _from_file(path: Path) -> list[Entrant]:
    """Every strategy that a file of the user's defines and that needs no options."""
    if not path.is_file():
        raise BadArgument("strategies", str(path), "a Python file that exists")
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise StopwiseError(f"{path}: {type(error).__name__}: {error}") from error
    own = [kind for kind in vars(module).values() if getattr(kind, "__module__", "") == path.stem]
    names = [registry.spelled(kind.__name__) for kind in own if _is_strategy(kind)]
    if not names:
        hint = "docs/extend.md has one in twenty lines."
        raise BadArgument("strategies", str(path), "a file that defines a strategy", hint)
    return [Entrant(name, spelling.strategy(name, "strategies"), None) for name in names]


def _is_strategy(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Strategy)


def entries(
    where: Sequence[LeagueInstance],
    who: Sequence[Entrant],
    when: Sequence[Named],
    deltas: Sequence[float],
) -> Iterator[Entry]:
    """Every strategy with every rule, and its own, on every instance whose question it answers."""
    for instance in where:
        most = _round_limit(instance, min(deltas))
        for each in who:
            own = [] if each.stopping is None else [each.stopping]
            for rule in (*when, *own):
                strategy = (each.name, each.strategy)
                entry = Entry(instance, strategy, rule, rule in own, most)
                if _refusal(entry, deltas[0]) is None:
                    yield entry


def _round_limit(instance: LeagueInstance, delta: float) -> int:
    time = oracle(instance.problem, instance.means, family=instance.family).time
    return max(LEAST_LIMIT, math.ceil(LIMIT * time * math.log(1.0 / delta)))


def _refusal(entry: Entry, delta: float) -> StopwiseError | None:
    """What strategy or rule say to a question that they are not for; None: they are."""
    setting = Setting(
        entry.instance.problem, entry.instance.family, entry.strategy[1], entry.stopping[1]
    )
    try:
        prepare(setting, entry.instance.means, (delta,), entry.max_rounds)
    except (NotDefined, BadArgument) as error:
        return error
    return None
