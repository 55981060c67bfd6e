"""How problems and families are spelled on the command line: name, or name:key=value,..."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from stopwise import families, problems
from stopwise.errors import BadArgument

FAMILIES = {
    re.sub(r"(?<!^)(?=[A-Z])", "-", family.__name__).lower(): family for family in families.FAMILIES
}
PROBLEMS: dict[str, Any] = {
    "best-arm": problems.BestArm,
    "thresholding": problems.Thresholding,
    "minimum-threshold": problems.MinimumThreshold,
    "any-low-arm": problems.AnyLowArm,
    "any-sign": problems.AnySign,
    "any-half-space": problems.AnyHalfSpace,
    "all-half-spaces": problems.AllHalfSpaces,
    "sphere": problems.Sphere,
}


def parse_means(text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise BadArgument("means", text, "numbers between commas, such as 0.5,0.45,0.4") from None


def parse_family(text: str) -> Any:
    """A family such as bernoulli or gaussian:variance=0.25."""
    kind, options = _split("family", text, FAMILIES)
    return _build("family", text, FAMILIES[kind], options)


def parse_problem(text: str, arms: int) -> Any:
    """A problem such as best-arm:epsilon=0.1; the number of arms comes from the means."""
    kind, options = _split("problem", text, PROBLEMS)
    maker = PROBLEMS[kind]
    if "arms" in inspect.signature(maker.__new__).parameters:
        options = {"arms": arms, **options}
    return _build("problem", text, maker, options)


def _split(name: str, text: str, known: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kind, _, rest = text.partition(":")
    kind = kind.lower()
    if kind not in known:
        raise BadArgument(name, kind, f"one of {', '.join(known)}")
    options = {}
    # commas inside brackets belong to the value: normals=[[1,0],[0,1]]
    for part in re.split(r",(?![^\[]*\])(?=[a-z_]+=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise BadArgument(name, text, f"options as name=value: {kind}:option=value,...")
        if key in options:
            raise BadArgument(f"{name}.{key}", text, "each option once")
        options[key] = _number(f"{name}.{key}", value)
    return kind, options


def _number(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return float(text)
    except ValueError:
        raise BadArgument(name, text, "a number or a list in brackets") from None


def _build(name: str, text: str, maker: Any, options: dict[str, Any]) -> Any:
    signature = (
        list(inspect.signature(maker.__new__).parameters)[1:]
        if "__new__" in vars(maker)
        else list(maker._fields)
    )
    free = [key for key in signature if key != "arms"]  # the number of arms comes from the means
    if name == "problem" and "arms=" in text:
        raise BadArgument("problem.arms", text, f"the options {', '.join(free)}")
    if not all(key in signature for key in options):
        bad = next(key for key in options if key not in signature)
        raise BadArgument(f"{name}.{bad}", text, f"the options {', '.join(free) or '(none)'}")
    try:
        return maker(**options)
    except TypeError:
        kind = text.partition(":")[0]
        wanted = ",".join(f"{key}=..." for key in free)
        raise BadArgument(name, text, f"values for {', '.join(free)}: {kind}:{wanted}") from None
