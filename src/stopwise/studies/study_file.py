"""How a file spells a study, with the line of every mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stopwise.core import checks, spelling
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.engine.truth import read_truth
from stopwise.studies.pilot import read_pilot

LAWS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "uniform": (("low", "high"), lambda rng, size, low, high: rng.uniform(low, high, size)),
    "normal": (
        ("mean", "deviation"),
        lambda rng, size, mean, deviation: rng.normal(mean, deviation, size),
    ),
    "beta": (("a", "b"), lambda rng, size, a, b: rng.beta(a, b, size)),
}
KINDS = "``means``, a ``law`` or ``pilot`` data"
KEYS = (
    *("name", "problem", "family", "instances", "strategies", "stopping"),
    *("deltas", "repetitions", "seed", "max_rounds", "block", "costs"),
)


def read_study(path: Path, make: Callable[..., Any]) -> Any:
    """What ``make`` makes of a file. A mistake is named with its line, its key and what is allowed."""
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
        return make(**_arguments(table, path))
    except BadArgument as error:
        inner = "deltas" if error.name == "delta" else error.name
        raise error.renamed(f"{path.name}, line {line_of(inner, lines)}: {inner}") from None


def _arguments(table: dict[str, Any], path: Path) -> dict[str, Any]:
    for key in table:
        if key not in KEYS:
            hint = "Thresholds are called ``stopping`` since 0.3.0." if key == "thresholds" else ""
            raise BadArgument(key, table[key], f"the keys {', '.join(KEYS)}", hint)
    for key in ("problem", "family", "instances"):
        if key not in table:
            raise BadArgument(key, None, f"a value: a study needs ``{key}``")
    seed = checks.seed(table.get("seed", 0))
    question, family = table["problem"], spelling.family(table["family"])
    values: dict[str, Any] = {
        key: _values(key, table[key]) for key in ("strategies", "stopping") if key in table
    }
    others = ("deltas", "repetitions", "max_rounds", "block", "costs")
    return {
        "problem": lambda arms: spelling.problem(question, arms),
        "instances": dict(_instances(table["instances"], seed, family, path.parent)),
        "family": family,
        "seed": seed,
        "name": str(table.get("name", path.stem)),
        **values,
        **{key: table[key] for key in others if key in table},
    }


def _values(what: str, given: Any) -> dict[str, Any]:
    """Spelled strategies or stopping rules, by name."""
    if not isinstance(given, list) or not given:
        raise BadArgument(what, given, f'a list such as {what} = ["..."] or tables [[{what}]]')
    read = spelling.strategy if what == "strategies" else spelling.stopping
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


def _instances(given: Any, seed: int, family: Any, folder: Path) -> Iterator[tuple[str, Any]]:
    """Means that are written down (with deviations: laws), drawn from a law, or a file of pilot data."""
    if not isinstance(given, list) or not given:
        raise BadArgument("instances", given, f"tables [[instances]] with {KINDS}")
    names: set[str] = set()
    for place, table in enumerate(given):
        where = f"instances[{place}]"
        if not isinstance(table, Mapping):
            table = {"means": table}
        own = str(table.get("name", f"instance {place + 1}"))
        if "law" in table:
            found = _drawn(where, table, own, np.random.SeedSequence(seed, spawn_key=(place,)))
        elif "pilot" in table:
            found = [(own, _pilot(where, table, folder))]
        else:
            _only(where, table, ("name", "means", "deviations"))
            if "means" not in table:
                raise BadArgument(where, dict(table), f"a table with {KINDS}")
            found = [(own, _means(where, table, family))]
        for name, means in found:
            if name in names:
                raise BadArgument(f"{where}.name", name, "names that all differ")
            names.add(name)
            yield name, means


def _pilot(where: str, table: Mapping[str, Any], folder: Path) -> Any:
    _only(where, table, ("name", "pilot"))
    try:
        return read_pilot(folder / str(table["pilot"]))
    except BadArgument as error:
        raise BadArgument(
            f"{where}.pilot", error.given, f"{error.name}: {error.allowed}", error.hint
        ) from None


def _means(where: str, table: Mapping[str, Any], family: Any) -> Any:
    """As they are written; with deviations the laws."""
    if "deviations" not in table:
        return table["means"]
    try:
        return list(read_truth(table["means"], family, table["deviations"]).laws)
    except BadArgument as error:
        raise error.renamed(f"{where}.{error.name}") from None


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
