"""How problems, families, strategies and thresholds are spelled: in files, and on the command line.

In a file each is a table, ``{kind = "best-arm", epsilon = 0.1}``; on the command line the same is
``best-arm:epsilon=0.1``. The number of arms comes from the means or labels that go with a problem.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stopwise import families, problems, sampling, stopping
from stopwise.errors import BadArgument

Table = Mapping[str, Any]


def _name(kind: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


FAMILIES: dict[str, Any] = {_name(kind): kind for kind in families.FAMILIES}
PROBLEMS: dict[str, Any] = {
    _name(kind): kind
    for kind in (
        problems.BestArm,
        problems.Thresholding,
        problems.MinimumThreshold,
        problems.AnyLowArm,
        problems.AnySign,
        problems.AnyHalfSpace,
        problems.AllHalfSpaces,
        problems.Sphere,
        problems.Product,
        problems.Cells,
    )
}
STRATEGIES: dict[str, Any] = {
    _name(kind): kind
    for kind in (
        sampling.StickyTrackAndStop,
        sampling.TrackAndStop,
        sampling.FixedWeights,
        sampling.Uniform,
        sampling.OracleWeights,
    )
}
THRESHOLDS: dict[str, Any] = {
    _name(kind): kind
    for kind in (
        stopping.Mixture,
        stopping.MixtureMartingale,
        stopping.Conservative,
        stopping.Stylized,
    )
}


def family(table: Table | str, name: str = "family") -> Any:
    """A family, such as "bernoulli" or {kind = "gaussian", variance = 0.25}."""
    return _value(name, table, FAMILIES)


def strategy(table: Table | str, name: str = "strategy") -> Any:
    """A strategy, such as "sticky-track-and-stop" or {kind = "track-and-stop", tracking = "D"}."""
    return _value(name, table, STRATEGIES, without=("region",))


def threshold(table: Table | str, name: str = "threshold") -> Any:
    """A threshold, such as "mixture"."""
    return _value(name, table, THRESHOLDS)


def problem(table: Table | str, arms: int, name: str = "problem") -> Any:
    """A problem, such as {kind = "best-arm", epsilon = 0.1}, about so many arms."""
    kind, options = _open(name, table, PROBLEMS)
    maker = PROBLEMS[kind]
    if "arms" in options:
        raise BadArgument(
            f"{name}.arms",
            options["arms"],
            f"the options {_list(_options(maker, ('arms',)))}",
            "The number of arms is that of the means or labels.",
        )
    if maker is problems.Product:
        return _product(name, options, arms)
    if maker is problems.Cells:
        options = _cells(name, options)
    counted = {"arms": arms} if "arms" in _options(maker) else {}
    made = _build(name, kind, maker, options, without=("arms",), **counted)
    about = problems.base.arm_count(made)
    if about != arms:
        raise BadArgument(name, made, f"a problem about {arms} arms; this one has {about}")
    return made


def _product(name: str, options: dict[str, Any], arms: int) -> Any:
    """{kind = "product", parts = [{kind = "best-arm", arms = [0, 1]}, ...]}."""
    parts = options.pop("parts", None)
    _only(name, options, ())
    if not isinstance(parts, list) or not parts:
        raise BadArgument(f"{name}.parts", parts, "a list of problems, each with its list ``arms``")
    pairs = []
    for place, part in enumerate(parts):
        each = f"{name}.parts[{place}]"
        table = dict(_table(each, part))
        group = table.pop("arms", None)
        if not isinstance(group, list) or not group:
            raise BadArgument(f"{each}.arms", group, f"a list of arms, from 0 to {arms - 1}")
        pairs.append((problem(table, len(group), each), group))
    return problems.Product(pairs)


def _cells(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """alternatives = [{answer = "yes", cells = [{upper = [0, 0]}, {center = ..., radius = 1}]}, ...]."""
    given = options.get("alternatives")
    if not isinstance(given, list):
        raise BadArgument(
            f"{name}.alternatives", given, 'a list of {answer = "...", cells = [...]}'
        )
    alternatives: dict[Any, list[Any]] = {}
    for place, entry in enumerate(given):
        each = f"{name}.alternatives[{place}]"
        table = _table(each, entry)
        _only(each, table, ("answer", "cells"))
        cells = table.get("cells")
        if not isinstance(table.get("answer"), str | int) or not isinstance(cells, list):
            raise BadArgument(each, entry, 'a table {answer = "...", cells = [...]}')
        if table["answer"] in alternatives:
            raise BadArgument(f"{each}.answer", table["answer"], "each answer once")
        alternatives[table["answer"]] = [
            _cell(f"{each}.cells[{i}]", cell) for i, cell in enumerate(cells)
        ]
    made: dict[str, Any] = {**options, "alternatives": alternatives}
    if "models" in options:
        made["models"] = _cell(f"{name}.models", options["models"])
    return made


def _cell(name: str, given: Any) -> Any:
    table = dict(_table(name, given))
    outside = table.pop("outside", False)
    if "radius" in table:
        _only(name, table, ("center", "radius"))
        maker = problems.OutsideBall if outside else problems.Ball
        return _build(name, "ball", maker, table)
    if outside:
        raise BadArgument(f"{name}.outside", outside, "only for balls, which have a radius")
    _only(name, table, ("normals", "offsets", "lower", "upper"))
    return problems.Polyhedron(**table)


def split(name: str, text: str) -> dict[str, Any]:
    """The table that ``kind:option=value,...`` spells."""
    kind, _, rest = text.partition(":")
    options: dict[str, Any] = {"kind": kind.strip().lower()}
    # commas inside brackets belong to the value: normals=[[1,0],[0,1]]
    for part in re.split(r",(?![^\[]*\])(?=[a-z_]+=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise BadArgument(name, text, f"options as name=value: {kind}:option=value,...")
        if key in options:
            raise BadArgument(f"{name}.{key}", text, "each option once")
        options[key] = _parsed(f"{name}.{key}", value)
    return options


def numbers(name: str, text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise BadArgument(name, text, "numbers between commas, such as 0.5,0.45,0.4") from None


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return float(text)
    except ValueError:
        if re.fullmatch(r"[A-Za-z][\w-]*", text):
            return text
        raise BadArgument(name, text, "a number, a word or a list in brackets") from None


def _value(
    name: str, given: Table | str, known: dict[str, Any], without: Sequence[str] = ()
) -> Any:
    kind, options = _open(name, given, known)
    return _build(name, kind, known[kind], options, without)


def _open(name: str, given: Table | str, known: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    table = split(name, given) if isinstance(given, str) else dict(_table(name, given))
    if "kind" not in table:
        raise BadArgument(name, given, f"a table with a ``kind``, one of {_list(known)}")
    kind = table.pop("kind")
    if not isinstance(kind, str) or kind not in known:
        raise BadArgument(f"{name}.kind", kind, f"one of {_list(known)}")
    return kind, table


def _table(name: str, given: Any) -> Table:
    if not isinstance(given, Mapping):
        raise BadArgument(name, given, 'a table such as {kind = "..."}')
    return given


def _options(maker: Any, without: Sequence[str] = ()) -> list[str]:
    if "__new__" in vars(maker):
        known = list(inspect.signature(maker.__new__).parameters)[1:]
    else:
        known = list(maker._fields)
    return [key for key in known if key not in without]


def _only(name: str, table: Table, allowed: Sequence[str], whose: str = "") -> None:
    for key in table:
        if key not in allowed:
            raise BadArgument(f"{name}.{key}", table[key], f"the options{whose}: {_list(allowed)}")


def _build(
    name: str,
    kind: str,
    maker: Callable[..., Any],
    options: dict[str, Any],
    without: Sequence[str] = (),
    **known: Any,
) -> Any:
    free = _options(maker, without)
    _only(name, options, free, f" of {kind}")
    try:
        return maker(**known, **options)
    except TypeError:
        given = {"kind": kind, **options} if options else kind
        raise BadArgument(name, given, f"values for the options of {kind}: {_list(free)}") from None
    except BadArgument as error:
        if error.name in free:  # say where in the file
            raise error.renamed(f"{name}.{error.name}") from None
        raise


def _list(names: Any) -> str:
    return ", ".join(names) or "(none)"
