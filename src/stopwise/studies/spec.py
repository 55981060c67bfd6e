"""What a study is made of, checked; and how a file spells it, with the line of every mistake."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stopwise import __version__, checks, spelling, verbs
from stopwise.engine.plan import Plan, check_deltas, prepare
from stopwise.errors import BadArgument, StopwiseError
from stopwise.simulation import MAX_ROUNDS

LAWS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "uniform": (("low", "high"), lambda rng, size, low, high: rng.uniform(low, high, size)),
    "normal": (
        ("mean", "deviation"),
        lambda rng, size, mean, deviation: rng.normal(mean, deviation, size),
    ),
    "beta": (("a", "b"), lambda rng, size, a, b: rng.beta(a, b, size)),
}
KEYS = (
    *("name", "problem", "family", "instances", "strategies", "thresholds"),
    *("deltas", "repetitions", "seed", "max_rounds", "block"),
)
Named = tuple[str, Any]


class Instance(NamedTuple):
    """A problem and the true means."""

    name: str
    problem: Any
    means: tuple[float, ...]


class Cell(NamedTuple):
    """One instance, strategy and threshold: all deltas come from its trajectories."""

    number: int
    instance: Instance
    strategy: Named
    threshold: Named


class Spec(NamedTuple):
    """Everything that a study's numbers depend on, and its names."""

    name: str
    family: Any
    instances: tuple[Instance, ...]
    strategies: tuple[Named, ...]
    thresholds: tuple[Named, ...]
    deltas: tuple[float, ...]
    repetitions: int
    seed: int
    max_rounds: int
    block: int

    def cells(self) -> tuple[Cell, ...]:
        """The grid, in the order that numbers it."""
        grid = product(self.instances, self.strategies, self.thresholds)
        return tuple(Cell(number, *combination) for number, combination in enumerate(grid))

    def plan(self, cell: Cell) -> Plan:
        """What the engine needs for a cell."""
        _, problem, means = cell.instance
        strategy, threshold = cell.strategy[1], cell.threshold[1]
        return prepare(
            problem, strategy, means, self.family, self.deltas, threshold, self.max_rounds
        )

    def fingerprint(self) -> str:
        """A hash of what decides the numbers: the values, the version, and a user's own functions."""
        values = (
            self.family,
            tuple((each.problem, each.means) for each in self.instances),
            tuple(value for _, value in self.strategies),
            tuple(value for _, value in self.thresholds),
            *(self.deltas, self.repetitions, self.seed, self.max_rounds, self.block),
        )
        digest = hashlib.sha256(f"stopwise {__version__}".encode())
        parts = list(_parts(values))
        for part in parts:
            digest.update(part + b"\0")
        if any(part.startswith(b"own ") for part in parts):
            digest.update(verbs.foreign_sources())
        return digest.hexdigest()[:16]


def _parts(value: Any) -> Iterator[bytes]:
    """The bytes of a value and of all that is in it."""
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, tuple):
        own = not type(value).__module__.startswith(("stopwise.", "builtins"))
        yield f"{'own ' if own else ''}{type(value).__name__} {len(value)}".encode()
        for part in tuple.__iter__(value):
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


def make_spec(
    name: str,
    problem: Any,
    family: Any,
    instances: Any,
    strategies: Any,
    thresholds: Any,
    deltas: Any,
    repetitions: int,
    seed: int,
    max_rounds: int,
    block: int | None,
) -> Spec:
    """A spec from values; one of anything may stand for a list of one."""
    count = checks.whole("repetitions", repetitions, least=1)
    spec = Spec(
        name,
        family,
        tuple(_instance(place, *item, problem) for place, item in enumerate(_listed(instances))),
        _named("strategies", strategies),
        _named("thresholds", thresholds),
        check_deltas(deltas),
        count,
        checks.whole("seed", seed, least=0),
        checks.whole("max_rounds", max_rounds, least=1),
        min(1000, max(10, count // 20)) if block is None else checks.whole("block", block, least=1),
    )
    if not spec.instances:
        raise BadArgument("instances", instances, "at least one instance")
    _distinct("instances", [each.name for each in spec.instances])
    _try(spec)
    return spec


def _listed(instances: Any) -> list[tuple[str | None, Any]]:
    """(name, means): from a dict, a list of means, or one instance's means."""
    if isinstance(instances, Mapping):
        return [(str(name), means) for name, means in instances.items()]
    if len(instances) and not np.ndim(instances[0]):
        return [(None, instances)]
    return [(None, means) for means in instances]


def _instance(place: int, name: str | None, means: Any, problem: Any) -> Instance:
    where = f"instances[{place}].means"
    values = tuple(checks.vector(where, means).tolist())
    try:
        own = problem if isinstance(problem, tuple) else problem(len(values))
    except BadArgument as error:
        if error.name != "arms":
            raise
        allowed = f"means of as many arms as the problem may have: {error.allowed}"
        raise BadArgument(where, list(values), allowed) from None
    return Instance(f"instance {place + 1}" if name is None else name, own, values)


def _named(what: str, given: Any) -> tuple[Named, ...]:
    """Names and values: from a dict, a list of values, or one value."""
    if isinstance(given, Mapping):
        named = tuple((str(name), value) for name, value in given.items())
    else:
        single = isinstance(given, tuple) and hasattr(given, "_fields")
        named = tuple((_brief(value), value) for value in ([given] if single else given))
    if not named:
        raise BadArgument(what, given, "at least one")
    _distinct(what, [name for name, _ in named])
    return named


def _brief(value: Any) -> str:
    """A value's name: without its fields where they are the usual ones."""
    try:
        usual = type(value)() == value
    except (TypeError, StopwiseError):
        usual = False
    return type(value).__name__ if usual else repr(value)


def _distinct(what: str, names: Sequence[str]) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise BadArgument(f"{what}[{place}]", name, "names that all differ")


def _try(spec: Spec) -> None:
    """Refuse now what would be refused when its turn comes: every instance, strategy, threshold once."""
    first = Cell(0, spec.instances[0], spec.strategies[0], spec.thresholds[0])
    tries = [(f"instances[{i}]", first._replace(instance=x)) for i, x in enumerate(spec.instances)]
    tries += [
        (f"strategies[{i}]", first._replace(strategy=x)) for i, x in enumerate(spec.strategies)
    ]
    tries += [
        (f"thresholds[{i}]", first._replace(threshold=x)) for i, x in enumerate(spec.thresholds)
    ]
    for where, cell in tries:
        with blamed(where):
            spec.plan(cell)


@contextmanager
def blamed(where: str) -> Iterator[None]:
    """Errors about an argument say where that argument came from."""
    try:
        yield
    except BadArgument as error:
        if error.name in ("delta", "max_rounds"):
            raise
        raise error.renamed(f"{where}.{error.name}") from None


def read_spec(path: Path) -> Spec:
    """A study's file. A mistake is named with its line, its key and what is allowed."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "`stopwise study new FILE` writes one to start from."
        raise BadArgument("file", str(path), "a study's file that exists", hint) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadArgument("file", str(path), f"a text file that can be read ({error})") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StopwiseError(f"{path.name}: not TOML: {error}.") from None
    lines = line_numbers(text)
    try:
        return _from_table(table, path.stem)
    except BadArgument as error:
        inner = "deltas" if error.name == "delta" else error.name
        raise error.renamed(f"{path.name}, line {line_of(inner, lines)}: {inner}") from None


def _from_table(table: dict[str, Any], stem: str) -> Spec:
    for key in table:
        if key not in KEYS:
            raise BadArgument(key, table[key], f"the keys {', '.join(KEYS)}")
    for key in ("problem", "instances"):
        if key not in table:
            raise BadArgument(key, None, f"a value: a study needs ``{key}``")
    seed = checks.whole("seed", table.get("seed", 0), least=0)
    question = table["problem"]
    return make_spec(
        str(table.get("name", stem)),
        lambda arms: spelling.problem(question, arms),
        spelling.family(table.get("family", "gaussian")),
        dict(_instances(table["instances"], seed)),
        _values("strategies", table.get("strategies", ["sticky-track-and-stop"])),
        _values("thresholds", table.get("thresholds", ["mixture"])),
        table.get("deltas", [0.1]),
        table.get("repetitions", 1000),
        seed,
        table.get("max_rounds", MAX_ROUNDS),
        table.get("block"),
    )


def _values(what: str, given: Any) -> dict[str, Any]:
    """Spelled strategies or thresholds, by name."""
    if not isinstance(given, list) or not given:
        raise BadArgument(what, given, f'a list such as {what} = ["..."] or tables [[{what}]]')
    read = spelling.strategy if what == "strategies" else spelling.threshold
    found: dict[str, Any] = {}
    for place, each in enumerate(given):
        table = dict(each) if isinstance(each, Mapping) else each
        own = table.pop("name", None) if isinstance(table, dict) else None
        value = read(table, f"{what}[{place}]")
        name = _label(table) if own is None else str(own)
        if name in found:
            raise BadArgument(f"{what}[{place}]", name, "names that all differ (key ``name``)")
        found[name] = value
    return found


def _label(table: Any) -> str:
    if isinstance(table, str):
        return table
    options = ",".join(f"{key}={value}" for key, value in table.items() if key != "kind")
    return f"{table['kind']}:{options}" if options else str(table["kind"])


def _instances(given: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Means that are written down, or drawn from a law."""
    if not isinstance(given, list) or not given:
        raise BadArgument("instances", given, "tables [[instances]] with ``means`` or a ``law``")
    names: set[str] = set()
    for place, table in enumerate(given):
        where = f"instances[{place}]"
        if not isinstance(table, Mapping):
            table = {"means": table}
        own = str(table.get("name", f"instance {place + 1}"))
        if "law" in table:
            found = _drawn(where, table, own, np.random.SeedSequence(seed, spawn_key=(place,)))
        else:
            _only(where, table, ("name", "means"))
            if "means" not in table:
                raise BadArgument(where, dict(table), "a table with ``means`` or a ``law``")
            found = [(own, table["means"])]
        for name, means in found:
            if name in names:
                raise BadArgument(f"{where}.name", name, "names that all differ")
            names.add(name)
            yield name, means


def _drawn(
    where: str, table: Mapping[str, Any], name: str, sequence: np.random.SeedSequence
) -> list[tuple[str, Any]]:
    law = table["law"]
    if law not in LAWS:
        raise BadArgument(f"{where}.law", law, f"one of {', '.join(LAWS)}")
    parameters, draw = LAWS[law]
    _only(where, table, ("name", "law", "arms", "count", *parameters))
    for key in ("arms", *parameters):
        if key not in table:
            raise BadArgument(f"{where}.{key}", None, f"a value, for the law {law}")
    values = {key: checks.finite(f"{where}.{key}", table[key]) for key in parameters}
    arms = checks.whole(f"{where}.arms", table["arms"], least=1)
    count = checks.whole(f"{where}.count", table.get("count", 1), least=1)
    try:
        means = draw(np.random.default_rng(sequence), (count, arms), **values)
    except ValueError as error:
        raise BadArgument(where, dict(table), f"parameters of the law {law} ({error})") from None
    return [(f"{name} {i + 1}" if count > 1 else name, row) for i, row in enumerate(means)]


def _only(where: str, table: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            raise BadArgument(f"{where}.{key}", table[key], f"the keys {', '.join(allowed)}")


def line_numbers(text: str) -> dict[str, int]:
    """The line of every key of a TOML text, by its path: instances[1].means."""
    found: dict[str, int] = {}
    sizes: dict[str, int] = {}
    header = ""
    for number, line in enumerate(text.splitlines(), start=1):
        table = re.match(r"\s*(\[\[?)\s*([\w.\-\"' ]+?)\s*\]", line)
        key = re.match(r"\s*([\w\-]+(?:\s*\.\s*[\w\-]+)*)\s*=", line)
        if table:
            header = table[2]
            if table[1] == "[[":
                sizes[header] = sizes.get(header, -1) + 1
                header = f"{header}[{sizes[header]}]"
            found.setdefault(header, number)
        elif key:
            path = f"{header}.{key[1]}" if header else key[1]
            found.setdefault(path.replace(" ", ""), number)
    return found


def line_of(path: str, lines: Mapping[str, int]) -> int:
    """The line of a key, or of what it is in; 1 where nothing of it stands in the text."""
    while path:
        if path in lines:
            return lines[path]
        path = re.sub(r"(\.[^.\[\]]*|\[[^\]]*\]|^[^.\[]*)$", "", path)
    return 1
