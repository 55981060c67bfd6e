"""What a study is made of, checked; and how a file spells it, with the line of every mistake."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stopwise import __version__
from stopwise.core import checks
from stopwise.core.errors import BadArgument, shown
from stopwise.core.functions import foreign_sources
from stopwise.core.values import Role, Value, check_role
from stopwise.engine.design import Design, Setting, prepare
from stopwise.engine.truth import read_truth
from stopwise.families.family import Family
from stopwise.problems.problem import Problem

Named = tuple[str, Any]
INSTANCES = "means (or laws, or pilot data) of one instance, a list of them, or a dict from names"


class Instance(NamedTuple):
    """A problem, the true means, and the arms' laws where samples are not the family's."""

    name: str
    problem: Any
    means: tuple[float, ...]
    laws: tuple[Any, ...] = ()


class Case(NamedTuple):
    """One instance, strategy and stopping rule: all deltas come from its trajectories."""

    number: int
    instance: Instance
    strategy: Named
    stopping: Named


class StudySpec(NamedTuple):
    """Everything that a study's numbers depend on, and its names."""

    name: str
    family: Family
    instances: tuple[Instance, ...]
    strategies: tuple[Named, ...]
    stopping: tuple[Named, ...]
    deltas: tuple[float, ...]
    repetitions: int
    seed: int
    max_rounds: int
    block: int
    costs: tuple[float, ...] | float | None = None  # of a sample of each arm, to be saved

    def cases(self) -> tuple[Case, ...]:
        """The grid, in the order that numbers it."""
        grid = product(self.instances, self.strategies, self.stopping)
        return tuple(Case(number, *combination) for number, combination in enumerate(grid))

    def design(self, case: Case) -> Design:
        """What the engine needs for a case."""
        _, problem, means, laws = case.instance
        asked = Setting(problem, self.family, case.strategy[1], case.stopping[1])
        truth = list(laws) or means
        return prepare(asked, truth, self.deltas, self.max_rounds, costs=self.costs)

    def fingerprint(self) -> str:
        """A hash of what decides the numbers: the values, the version, and a user's own functions."""
        values = (
            self.family,
            tuple(
                (each.problem, each.means, *(law.identity for law in each.laws))
                for each in self.instances
            ),
            tuple(value for _, value in self.strategies),
            tuple(value for _, value in self.stopping),
            *(self.deltas, self.repetitions, self.seed, self.max_rounds, self.block),
            *(() if self.costs is None else (self.costs,)),
        )
        digest = hashlib.sha256(f"stopwise {__version__}".encode())
        parts = list(_parts(values))
        for part in parts:
            digest.update(part + b"\0")
        if any(part.startswith(b"own ") for part in parts):
            digest.update(foreign_sources())
        return digest.hexdigest()[:16]


def _parts(value: Any) -> Iterator[bytes]:
    """The bytes of a value and of all that is in it."""
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, tuple):
        own = not type(value).__module__.startswith(("stopwise.", "builtins"))
        name, parts = type(value).__name__, tuple(value)
        if isinstance(value, Value):
            name, parts = value.identity()
        yield f"{'own ' if own else ''}{name} {len(parts)}".encode()
        for part in parts:
            yield from _parts(part)
    elif callable(value):
        try:
            yield f"own {inspect.getsource(value)}".encode()
        except (OSError, TypeError):
            raise BadArgument(
                "region",
                value,
                "a function whose source can be read, so that a study knows it again",
            ) from None
    else:
        yield f"{type(value).__name__} {value!r}".encode()


def named_instances(
    instances: Any,
    problem: Problem | Callable[[int], Problem],
    family: Family,
    deviations: Any = None,
) -> tuple[Instance, ...]:
    """Instances with names that differ; one may stand for a list of one."""
    found = tuple(
        _instance(i, *item, problem, family, deviations)
        for i, item in enumerate(_listed(instances))
    )
    if not found:
        raise BadArgument("instances", instances, "at least one instance")
    _distinct("instances", [each.name for each in found])
    return found


def _listed(instances: Any) -> list[tuple[str | None, Any]]:
    """(name, means): from a dict, a list of means, or one instance's means (or laws, or pilot data)."""
    if isinstance(instances, Mapping):
        return [(str(name), means) for name, means in instances.items()]
    if checks.has(instances, "columns"):
        return [(None, instances)]
    entries = checks.listed("instances", instances, INSTANCES)
    first = entries[0] if entries else ()
    if not checks.is_list(first) and not checks.has(first, "columns"):
        return [(None, instances)]
    return [(None, means) for means in entries]


def _instance(
    place: int, name: str | None, means: Any, problem: Any, family: Family, deviations: Any
) -> Instance:
    where = f"instances[{place}].means"
    try:
        truth = read_truth(means, family, deviations)
        values = tuple(checks.vector("means", truth.means).tolist())
    except BadArgument as error:
        raise error.renamed(f"instances[{place}].{error.name}") from None
    try:
        own = (
            problem if isinstance(problem, tuple) or not callable(problem) else problem(len(values))
        )
        check_role("problem", own, Problem)
    except BadArgument as error:
        if error.name != "arms":
            raise
        allowed = f"means of as many arms as the problem may have: {error.allowed}"
        raise BadArgument(where, list(values), allowed) from None
    return Instance(f"instance {place + 1}" if name is None else name, own, values, truth.laws)


def named_values(what: str, given: Any, kind: type[Role]) -> tuple[Named, ...]:
    """Names and values: from a dict, a list of values, or one value."""
    if isinstance(given, Mapping):
        named = tuple((str(name), value) for name, value in given.items())
    else:
        single = isinstance(given, tuple) and hasattr(given, "_fields")
        values = [given] if single else checks.listed(what, given, f"{what}: one, a list or a dict")
        named = tuple((_brief(value), value) for value in values)
    for place, (_, value) in enumerate(named):
        check_role(f"{what}[{place}]", value, kind)
    if not named:
        raise BadArgument(what, given, "at least one")
    _distinct(what, [name for name, _ in named])
    return named


def _brief(value: Any) -> str:
    """A value's name: without its fields where they are the usual ones."""
    try:
        usual = type(value)() == value
    except Exception:  # it has no usual fields, or is no value of ours
        usual = False
    return type(value).__name__ if usual else shown(value)


def _distinct(what: str, names: Sequence[str]) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise BadArgument(f"{what}[{place}]", name, "names that all differ")


def try_each(spec: StudySpec) -> None:
    """Refuse now what would be refused when its turn comes: every instance, strategy and rule once."""
    first = Case(0, spec.instances[0], spec.strategies[0], spec.stopping[0])
    tries = [(f"instances[{i}]", first._replace(instance=x)) for i, x in enumerate(spec.instances)]
    tries += [
        (f"strategies[{i}]", first._replace(strategy=x)) for i, x in enumerate(spec.strategies)
    ]
    tries += [(f"stopping[{i}]", first._replace(stopping=x)) for i, x in enumerate(spec.stopping)]
    for where, case in tries:
        try:
            spec.design(case)
        except BadArgument as error:  # it says where its argument came from
            if error.name in ("delta", "max_rounds") or error.name.startswith("costs"):
                raise
            raise error.renamed(f"{where}.{error.name}") from None
